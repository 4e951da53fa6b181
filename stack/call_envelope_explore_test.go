//go:build explore

package stack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The receiver closes an envelope between the moment in which a guest finds it open and
// the one in which it counts its message: the message goes by another.
func TestEnvelopeClosedWhileAGuestAdds(t *testing.T) {
	h := newHand(t, 1)
	k := &tallier{}
	house := settleOn(h, 0, k)
	for n := range 2 { // the second is in an envelope
		Tell(&h.guests, house, tallierAdd, &words{0, n})
	}
	at(t, "envelope.add", h.settle)
	Tell(&h.guests, house, tallierAdd, &words{0, 2})
	require.Equal(t, 2, k.next[0])
	h.settle()
	require.Equal(t, 3, k.next[0])
	require.Empty(t, k.wrong)
}

// A guest adds between the moment in which the receiver takes an envelope out of the
// inbox and the one in which it closes it.
func TestGuestAddsBeforeTheEnvelopeCloses(t *testing.T) {
	h := newHand(t, 1)
	k := &tallier{}
	house := settleOn(h, 0, k)
	for n := range 2 {
		Tell(&h.guests, house, tallierAdd, &words{0, n})
	}
	at(t, "envelope.close", func() { Tell(&h.guests, house, tallierAdd, &words{0, 2}) })
	h.settle()
	require.Equal(t, 3, k.next[0], "nobody rings for it")
	require.Empty(t, k.wrong)
}

// parting is a message that does something when it is released.
type parting struct{ last func() }

func (p *parting) Release() { p.last() }

// TestGuestReleasesWhatAnotherHasSent: it tells one whose worker has left, and finds there what
// another has pushed and not rung for yet. That is released, and tells as well.
func TestGuestReleasesWhatAnotherHasSent(t *testing.T) {
	h := newHand(t, 1)
	house := settleOn(h, 0, &tallier{})
	by := newNotice(func(_ *tallier, s *NoticeStack[parting]) Yield { return s.Return() })
	h.workers[0].Leave()
	released := 0
	at(t, "inbox.ring", func() {
		s := h.guests.Begin(house, by)
		Message[parting](s).last = func() {
			released++
			Tell(&h.guests, house, tallierAdd, &words{0, 1})
		}
		require.True(t, house.reserve())
		house.push(s, s)
	})
	Tell(&h.guests, house, tallierAdd, &words{0, 0})
	require.Equal(t, 1, released)
	require.EqualValues(t, 3, h.letters())
}
