package script

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the scripts in testdata print")

// Play returns a script with what play returns for each of its lines below that, in place of what
// stood there. It may be several lines, or none.
func Play(text string, play func(line string) string) string {
	var all strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "\t") {
			continue
		}
		all.WriteString(line + "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		for out := range strings.Lines(play(line)) {
			all.WriteString("\t" + strings.TrimRight(out, "\n") + "\n")
		}
	}
	return all.String()
}

// Files plays each file that matches a pattern as a test of its own. The function begin, called
// for each, returns what plays its lines. A script begins with a comment that says what it shows.
func Files(t *testing.T, pattern string, begin func(t *testing.T) (play func(line string) string)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(text), "# ") {
				t.Errorf("%s doesn't begin with what it shows", file)
			}
			Same(t, file, Play(string(text), begin(t)))
		})
	}
}

// Same fails the test unless got is what the file holds; with -update it writes that.
func Same(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n, got, want := difference(got, string(text)); n > 0 {
		t.Errorf("%s:%d: got %q, want %q; -update writes what comes now", file, n, got, want)
	}
}

// difference returns the number of the first line in which two texts differ, and both; 0: they
// are the same.
func difference(a, b string) (n int, inA, inB string) {
	for a != "" || b != "" {
		n++
		inA, a, _ = strings.Cut(a, "\n")
		inB, b, _ = strings.Cut(b, "\n")
		if inA != inB {
			return n, inA, inB
		}
	}
	return 0, "", ""
}
