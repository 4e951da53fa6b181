package stack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is deferred first is done first, also what deferred work defers: a connection whose requests were
// first isn't the last to be answered.
func TestDeferredInOrder(t *testing.T) {
	w, _ := newTestWorker()
	var done []int
	var all [5]Deferred
	for i := range all {
		all[i].Run = func(*Deferred) {
			done = append(done, i)
			if i == 1 {
				w.Defer(&all[4])
				w.Defer(&all[2]) // which is to come
			}
			if i == 4 && len(done) < 6 {
				w.Defer(&all[4])
			}
		}
	}
	w.Defer(&all[0])
	w.Defer(&all[1])
	w.Defer(&all[0])
	w.Defer(&all[2])
	w.Defer(&all[3])
	w.RunDeferred()
	require.Equal(t, []int{0, 1, 2, 3, 4, 4}, done)
	w.RunDeferred()
	require.Len(t, done, 6)
	w.Defer(&all[3])
	w.RunDeferred()
	require.Equal(t, 3, done[6])
}
