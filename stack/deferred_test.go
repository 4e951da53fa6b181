package stack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Work that is deferred first is done first, even if deferred work defers it. So a connection whose
// requests came first isn't the last to be answered.
func TestDeferredInOrder(t *testing.T) {
	w, _ := newTestWorker()
	var done []int
	var all [5]Deferred
	for i := range all {
		all[i].Run = func(*Deferred) {
			done = append(done, i)
			if i == 1 {
				w.Defer(&all[4])
				w.Defer(&all[2]) // it is in the queue already
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

// Work deferred to the next turn isn't done before, and the worker owes it. In the next turn it
// comes after the work that is left of this one.
func TestDeferOn(t *testing.T) {
	w, _ := newTestWorker()
	var done []string
	var a, b, c Deferred
	a.Run = func(d *Deferred) {
		if done = append(done, "a"); len(done) < 6 {
			w.DeferOn(d)
			w.Defer(d) // without effect: it is deferred already
		}
	}
	b.Run = func(d *Deferred) {
		if done = append(done, "b"); len(done) < 6 {
			w.DeferOn(d)
		}
	}
	c.Run = func(*Deferred) { done = append(done, "c") }
	w.Defer(&a)
	w.Defer(&b)
	require.False(t, w.Owes())
	w.RunDeferred()
	require.Equal(t, []string{"a", "b"}, done)
	w.RunDeferred()
	require.Len(t, done, 2)
	require.True(t, w.Owes())
	w.Defer(&c)
	w.BeginTurn(1, false) // as if the last turn had been cut short
	require.False(t, w.Owes())
	w.RunDeferred()
	require.Equal(t, []string{"a", "b", "c", "a", "b"}, done)
	w.BeginTurn(2, false)
	w.RunDeferred()
	require.Equal(t, []string{"a", "b", "c", "a", "b", "a", "b"}, done)
	require.False(t, w.Owes())
}
