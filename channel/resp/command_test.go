package resp

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// decoded returns the one command that in is.
func decoded(t *testing.T, in []byte) (cmd Command) {
	t.Helper()
	var d Decoder
	if n, err := d.Decode(in, &cmd); n != len(in) || err != nil {
		t.Fatalf("%q: %d, %v", in, n, err)
	}
	return cmd
}

// TestRebase keeps commands of each shape beyond their input.
func TestRebase(t *testing.T) {
	for in, want := range map[string]string{
		"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n": "GET key",
		" GET  key \r\n":                   "GET key",
		"GET 'key'\r\n":                    "GET key",
		"1 2 3 4 5 6 7 8 9 10 11\n":        "1 2 3 4 5 6 7 8 9 10 11",
		string(mget(20)):                   "MGET " + strings.Join(keys(20), " "),
		"\r\n":                             "",
	} {
		input := []byte(in)
		first := decoded(t, input)
		kept := first
		kept.Rebase(append(slices.Clone(kept.Raw()), "behind"...))
		clear(input)
		if got := cap(kept.Raw()); got != len(first.Raw()) {
			t.Errorf("%q: kept with %d bytes of %d", in, got, len(first.Raw()))
		}
		if got := strings.Join(arguments(&kept), " "); got != want {
			t.Errorf("%q: %q is kept, want %q", in, got, want)
		}
	}
}

func keys(n int) (all []string) {
	for args := strings.Fields(string(mget(n))); len(args) > 0; args = args[1:] {
		if strings.HasPrefix(args[0], "key:") {
			all = append(all, args[0])
		}
	}
	return all
}

func TestRaw(t *testing.T) {
	for in, want := range map[string]string{
		"*1\r\n$4\r\nPING\r\n": "*1\r\n$4\r\nPING\r\n",
		"PING \r\n":            "PING \r\n",
		"ECHO \"a b\"\r\n":     "*2\r\n$4\r\nECHO\r\n$3\r\na b\r\n",
		"*-1\r\n":              "*-1\r\n",
	} {
		cmd := decoded(t, []byte(in))
		if got := string(cmd.Raw()); got != want {
			t.Errorf("%q: Raw() = %q, want %q", in, got, want)
		}
	}
}

// TestArgumentsCannotGrowIntoTheInput: appending to one copies it.
func TestArgumentsCannotGrowIntoTheInput(t *testing.T) {
	for _, in := range [][]byte{mget(10), []byte("1 2 3 4 5 6 7 8 9 10\n")} {
		before := slices.Clone(in)
		cmd := decoded(t, in)
		for i := range cmd.Len() {
			_ = append(cmd.Arg(i), "spoiled"...)
		}
		for args := cmd.Args(0); args.Len() > 0; {
			arg, _ := args.Next()
			_ = append(arg, "spoiled"...)
		}
		_ = append(cmd.Raw(), "spoiled"...)
		if !bytes.Equal(in, before) {
			t.Errorf("%q became %q", before, in)
		}
	}
}

func TestArgOutOfRangePanics(t *testing.T) {
	cmd := decoded(t, []byte("GET key\n"))
	for name, f := range map[string]func(){
		"Arg(-1)":  func() { cmd.Arg(-1) },
		"Arg(2)":   func() { cmd.Arg(2) },
		"Args(-1)": func() { cmd.Args(-1) },
		"Rebase":   func() { cmd.Rebase(nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s doesn't panic", name)
				}
			}()
			f()
		}()
	}
}

func TestIs(t *testing.T) {
	var empty Command
	if empty.Is("") {
		t.Error("an empty request has a name")
	}
	get := decoded(t, []byte("gEt key\n"))
	if !get.Is("GET") || !get.Is("get") || get.Is("GE") || get.Is("GETX") || get.Is("SET") {
		t.Error("GET isn't recognised, or something else is")
	}
}

// TestEqualFold tries every pair of bytes against bytes.EqualFold, which agrees
// within ASCII.
func TestEqualFold(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			x, y := []byte{'x', byte(a)}, []byte{'X', byte(b)}
			want := a == b || a < 128 && b < 128 && bytes.EqualFold(x, y)
			if got := EqualFold(x, string(y)); got != want {
				t.Errorf("%q and %q: %v", x, y, got)
			}
		}
	}
}
