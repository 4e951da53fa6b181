package turn

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTransitions makes every transition from every state.
func TestTransitions(t *testing.T) {
	names := []string{"run", "parked", "borrowed", "wanted"}
	got := ""
	for from, name := range names {
		for _, c := range []struct {
			name string
			make func(*State) bool
		}{
			{"Wake", (*State).Wake},
			{"Borrow", (*State).Borrow},
			{"Unpark", (*State).Unpark},
			{"GiveBack(false)", func(s *State) bool { return s.GiveBack(false) }},
			{"GiveBack(true)", func(s *State) bool { return s.GiveBack(true) }},
		} {
			if c.name[0] == 'G' && from != int(borrowed) && from != int(wanted) {
				continue // only a borrower calls it
			}
			var s State
			s.holder.Store(uint32(from))
			duty := c.make(&s)
			got += fmt.Sprintf("%-8s  %-15s  %-8s  %v\n", name, c.name, names[s.holder.Load()], duty)
		}
	}
	require.Equal(t, `run       Wake             run       false
run       Borrow           run       false
run       Unpark           run       true
parked    Wake             run       true
parked    Borrow           borrowed  true
parked    Unpark           run       true
borrowed  Wake             borrowed  false
borrowed  Borrow           borrowed  false
borrowed  Unpark           wanted    false
borrowed  GiveBack(false)  parked    true
borrowed  GiveBack(true)   run       false
wanted    Wake             wanted    false
wanted    Borrow           wanted    false
wanted    Unpark           wanted    false
wanted    GiveBack(false)  run       false
wanted    GiveBack(true)   run       false
`, got)
}

// TestReadings: what each method that only reads says of each state.
func TestReadings(t *testing.T) {
	for from, want := range [][3]bool{run: {false, true, false}, parked: {true, false, false}, borrowed: {false, false, true}, wanted: {false, false, true}} {
		var s State
		s.holder.Store(uint32(from))
		require.Equal(t, want, [3]bool{s.Parked(), s.Own(), s.Borrowed()}, from)
	}
	var s State
	require.True(t, s.Own())
	s.Park()
	require.True(t, s.Parked())
}
