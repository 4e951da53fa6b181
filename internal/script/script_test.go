package script

import (
	"strings"
	"testing"
)

// Each line is played once, and what was below it is gone; texts that differ are found.
func TestPlay(t *testing.T) {
	var played []string
	play := func(line string) string {
		played = append(played, line)
		return strings.ReplaceAll(line, " ", "\n")
	}
	const text = "# What it shows.\n\na b\n\tstale\n\n\tx\nc\n"
	const want = "# What it shows.\n\na b\n\ta\n\tb\n\nc\n\tc\n"
	if got := Play(text, play); got != want {
		t.Errorf("played as %q", got)
	}
	if got := strings.Join(played, ","); got != "a b,c" {
		t.Errorf("played the lines %s", got)
	}
	if got := Play(want, play); got != want {
		t.Errorf("what was written is played as %q", got)
	}
	for _, other := range []string{"a\nc\n", "a\n", "a\nb\nc\n", "", "\na\nb\n"} {
		if n, _, _ := difference("a\nb\n", other); n == 0 {
			t.Errorf("%q is taken for the same", other)
		}
	}
	if n, _, _ := difference("a\nb\n", "a\nb\n"); n != 0 {
		t.Errorf("the same texts differ in line %d", n)
	}
}
