package check

import (
	"fmt"
	"strings"
	"testing"
)

// Package stack is the largest; these are its bounds, in lines without blanks and comments. It is
// close to them, so a change that adds code moves other code out: a container, a table or a state
// machine that performs nothing compiles alone, as a leaf below stack (docs/design/tests.md).
const (
	stackLines = 5500
	fileLines  = 350
)

func TestStackIsSmall(t *testing.T) { report(t, long(ours(t), "stack", stackLines, fileLines)) }

// long is the gate: it counts the lines of a room and of its files.
func long(t *tree, room string, most, each int) (problems []string) {
	sum := 0
	for _, s := range t.rooms[room] {
		if s.test {
			continue
		}
		n := codeLines(s.text)
		if sum += n; n > each {
			problems = append(problems, fmt.Sprintf("%s has %d lines without blanks and comments, at most %d", s.path, n, each))
		}
	}
	if sum > most {
		problems = append(problems, fmt.Sprintf("%s has %d lines without blanks and comments, at most %d: what compiles alone becomes a leaf", room, sum, most))
	}
	if sum == 0 {
		problems = append(problems, room+" has no lines: is this the right folder?")
	}
	return problems
}

func codeLines(text string) (n int) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

func TestStackIsSmallFindsWhatIsLong(t *testing.T) {
	texts := map[string]string{
		"a/a.go":      "package a\n\n// A says.\nfunc A() {\n\treturn // here\n}\n",
		"a/b.go":      "package a\n\nvar x = 1\n",
		"a/b_test.go": "package a\n\nvar y = 1\nvar z = 1\n",
	}
	expect(t, long(sketch(t, texts), "a", 6, 4))
	expect(t, long(sketch(t, texts), "a", 5, 4), "a has 6 lines without blanks and comments, at most 5")
	expect(t, long(sketch(t, texts), "a", 6, 3), "a/a.go has 4 lines without blanks and comments, at most 3")
	expect(t, long(sketch(t, texts), "b", 6, 3), "b has no lines")
}
