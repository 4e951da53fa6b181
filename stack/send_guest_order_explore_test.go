//go:build explore

package stack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// One guest begins an ask, then tells. Another guest of its stripe tells right before the ask is
// pushed: the notice after the ask must come behind it, and not join the other guest's notice.
func TestNoticeBehindAnAskOfAGuest(t *testing.T) {
	h := newHand(t, 1)
	r := &reader{}
	house := settleOn(h, 0, r)
	c := h.guests.Call(house, readAsk)
	*Request[words, int](c.Stack()) = words{1, 1}
	at(t, "inbox.push", func() { Tell(&h.guests, house, readWords, &words{9, 100}) })
	h.guests.Send(c)
	Tell(&h.guests, house, readWords, &words{1, 2})
	h.settle()
	require.NoError(t, h.guests.Finish(c))
	h.guests.Done(c)
	require.Equal(t, []string{"9 100", "1 1", "1 2"}, r.got)
}
