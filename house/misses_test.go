package house

import "testing"

func TestMisses(t *testing.T) {
	var m misses
	for i, want := range []int{1, 3, 7, 15, 15} {
		if got := m.note(false, 4); got != want {
			t.Errorf("miss %d: a pause of %d, want %d", i, got, want)
		}
	}
	if got := m.note(true, 4); got != 0 {
		t.Errorf("a pause of %d behind what paid", got)
	}
	if got := m.note(false, 4); got != 1 {
		t.Errorf("a pause of %d behind the next miss, want 1", got)
	}
}
