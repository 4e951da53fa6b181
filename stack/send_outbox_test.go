package stack

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// crossed returns how many stacks are in the inbox of h.
func crossed(h *House) (n int) {
	for s := h.inbox.Load(); s != nil; s = s.next {
		n++
	}
	return n
}

// The first message leaves at once. Those that follow wait until they are many, at the latest
// until the visit ends.
func TestOutboxWaits(t *testing.T) {
	h := newHand(t, 2)
	reader := &reader{}
	to, from := settleOn(h, 1, reader), settleOn(h, 0, &writer{})
	said := 0
	say := func(w *Engine) {
		tellFrom(w, to, 2, 0, said)
		said++
	}
	tell(h, from, writerWrite, func(w *Engine) {
		say(w)
		require.Equal(t, 1, crossed(to), "nothing was on its way")
		say(w)
		require.Equal(t, 1, crossed(to), "something is")
		h.turn(1)
		say(w)
		require.Zero(t, crossed(to), "it isn't the first")
		for range outboxMax {
			say(w)
		}
		require.Equal(t, outboxMax, crossed(to), "it is much")
	})
	tell(h, from, writerWrite, func(w *Engine) {
		require.Equal(t, outboxMax, crossed(to), "the same visit")
		say(w)
	})
	tell(h, settleOn(h, 0, &writer{}), writerWrite, func(w *Engine) { // rung for last, visited last
		require.Equal(t, said-1, crossed(to), "the visit has ended")
		said = -said
	})
	h.turn(0)
	require.Negative(t, said)
	said = -said
	h.settle()
	want := []string{}
	for i := range said {
		want = append(want, fmt.Sprint("0 ", i))
	}
	require.Equal(t, want, reader.got)
}

// Messages also leave when the visit turns to another house.
func TestOutboxKeepsTheOrderOfHouses(t *testing.T) {
	h := newHand(t, 2)
	one, other, from := settleOn(h, 1, &reader{}), settleOn(h, 1, &reader{}), settleOn(h, 0, &writer{})
	tell(h, from, writerWrite, func(w *Engine) {
		for i := range 4 {
			tellFrom(w, one, 2, 0, i)
		}
		require.Equal(t, 1, crossed(one))
		tellFrom(w, other, 0, 0, 4)
		require.Equal(t, 4, crossed(one))
		require.Zero(t, crossed(other))
	})
	h.turn(0)
	require.Equal(t, 1, crossed(other))
	h.settle()
}

// A first small notice leaves at the end of its step: the next step may be long.
func TestOutboxLeavesBetweenSteps(t *testing.T) {
	h := newHand(t, 2)
	reader := &reader{}
	to, from := settleOn(h, 1, reader), settleOn(h, 0, &writer{})
	for i := range 3 {
		tell(h, from, writerWrite, func(w *Engine) {
			require.Len(t, reader.got, i)
			tellFrom(w, to, 0, 0, i)
			require.Zero(t, crossed(to))
		})
		tell(h, from, writerWrite, func(*Engine) {
			require.Equal(t, 1, crossed(to))
			h.turn(1)
		})
	}
	h.turn(0)
	require.Equal(t, []string{"0 0", "0 1", "0 2"}, reader.got)
}

// Messages leave that a step has sent before it panics, and messages that are sent outside visits.
func TestOutboxOfAPanicAndOutsideVisits(t *testing.T) {
	h := newHand(t, 2)
	reader := &reader{}
	to, from := settleOn(h, 1, reader), settleOn(h, 0, &writer{})
	tell(h, from, writerWrite, func(w *Engine) {
		for i := range 4 {
			tellFrom(w, to, 0, 0, i) // by a stack and an envelope
		}
		panic(errors.New("on purpose"))
	})
	h.turn(0)
	require.Equal(t, 2, crossed(to))
	require.Len(t, h.drivers[0].failed, 1)
	h.turn(1)
	require.Len(t, reader.got, 4)

	w := h.workers[0]
	var d Deferred
	d.Run = func(*Deferred) { tellFrom(w, to, 1, 0, 4) }
	w.Defer(&d)
	h.turn(0)
	require.Equal(t, 1, crossed(to))
	h.settle()
	require.Len(t, reader.got, 5)
}
