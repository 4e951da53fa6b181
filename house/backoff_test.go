package house

import "testing"

func TestMisses(t *testing.T) {
	var m backoff
	for i, want := range []int{1, 3, 7, 15, 15} {
		if got := m.note(false); got != want {
			t.Errorf("miss %d: a pause of %d, want %d", i, got, want)
		}
	}
	for i, want := range []int{0, 0, 7, 0, 0, 0, 0, 1} {
		if got := m.note(want == 0); got != want {
			t.Errorf("then, %d: a pause of %d, want %d", i, got, want)
		}
	}
}
