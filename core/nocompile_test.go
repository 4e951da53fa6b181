package core_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const noCompile = "testdata/nocompile"

var (
	expectation = regexp.MustCompile("// ERROR `(.*)`")
	complaint   = regexp.MustCompile(`^(testdata/nocompile/\w+\.go:\d+):\d+: (.*)`)
)

// TestDoesNotCompile builds programs with one mistake a line: a wrong request,
// reply, future, address or step. The compiler must refuse each such line with
// the message that stands beside it, and no other line.
func TestDoesNotCompile(t *testing.T) {
	files, err := filepath.Glob(noCompile + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs to compile", err)
	}
	want := map[string]*regexp.Regexp{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if m := expectation.FindStringSubmatch(line); m != nil {
				want[fmt.Sprintf("%s:%d", filepath.ToSlash(file), i+1)] = regexp.MustCompile(m[1])
			}
		}
	}
	if len(want) < 50 {
		t.Fatalf("%d lines expect an error; there were more", len(want))
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-o", os.DevNull, "./"+noCompile)
	out, err := build.CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	for line := range strings.Lines(string(out)) {
		m := complaint.FindStringSubmatch(line)
		if m == nil {
			continue // the package's name, or the second line of a message
		}
		switch re := want[m[1]]; {
		case re == nil:
			t.Errorf("%s: not expected: %s", m[1], m[2])
		case !re.MatchString(m[2]):
			t.Errorf("%s: the compiler says %q, want %q", m[1], m[2], re)
		default:
			delete(want, m[1])
		}
	}
	for at, re := range want {
		t.Errorf("%s: compiles; want %q", at, re)
	}
}
