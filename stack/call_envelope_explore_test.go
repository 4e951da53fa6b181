//go:build explore

package stack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The receiver closes an envelope after a guest has found it open, and before the guest
// counts its message: the message goes by another envelope or stack.
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

// A guest adds to an envelope after the receiver has taken it out of the inbox, and before
// the receiver closes it.
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

// TestGuestReleasesWhatAnotherHasSent: a guest tells an actor whose worker has left, and finds in
// its inbox a message that another guest has pushed and not rung for yet. The message is released,
// and its Release tells the actor too.
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
