package stack

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// warm puts stacks of by into the free list of w's shard, where Tell finds them.
func warm(w *Engine, by *Handler) {
	var all [4]*Stack
	for i := range all {
		all[i] = w.Begin(by)
	}
	for _, s := range all {
		w.Shard.Put(&s.Object)
	}
}

// length returns how many stacks and envelopes stand in the lane of calls of h.
func length(h *House) (n int) {
	for s := h.calls.head; s != nil; s = s.next {
		n++
	}
	return n
}

// A notice goes behind mail that wasn't drained yet, whether it gets a stack or joins an envelope.
func TestNoticeBehindMail(t *testing.T) {
	for _, before := range []int{0, 1, 2, 5} {
		h := newHand(t, 1)
		r := &reader{}
		to, w := settleOn(h, 0, r), h.workers[0]
		warm(w, readWords)
		var want []string
		for i := range before {
			require.NoError(t, notify(w, to, readWords, words{0, i}))
			want = append(want, fmt.Sprint("0 ", i))
		}
		s := h.guests.Begin(to, readWords)
		*Message[words](s) = words{1, 0}
		require.True(t, to.reserve())
		to.push(s, s)
		require.NoError(t, notify(w, to, readWords, words{0, before}))
		want = append(want, "1 0", fmt.Sprint("0 ", before))
		h.turn(0)
		require.Equal(t, want, r.got)
		to.ring()
		h.settle()
	}
}

// A notice to a house that was given to the sender's worker goes behind the messages for it in the
// worker's outbox.
func TestNoticeBehindTheOutbox(t *testing.T) {
	for _, before := range []int{1, 2, 5} {
		h := newHand(t, 2)
		r := &reader{}
		to, from := settleOn(h, 0, r), settleOn(h, 1, &writer{})
		warm(h.workers[1], readWords)
		var want []string
		for i := range before {
			require.NoError(t, notify(h.workers[0], to, readWords, words{0, i}))
			want = append(want, fmt.Sprint("0 ", i))
		}
		tell(h, from, writerWrite, func(w *Engine) {
			require.NoError(t, notify(w, to, readWords, words{1, 0}))
			require.Equal(t, 1, h.workers[0].HandOver(w, 1))
			require.NoError(t, notify(w, to, readWords, words{1, 1}))
		})
		h.turn(1)
		h.settle()
		require.Equal(t, append(want, "1 0", "1 1"), r.got)
	}
}

// A notice for which Joins is false may still join the envelope, by TellOtherwise.
func TestNoticeJoinsSlowly(t *testing.T) {
	h := newHand(t, 2)
	r := &reader{}
	to := settleOn(h, 0, r)
	for i := range 3 {
		require.NoError(t, notify(h.workers[0], to, readWords, words{0, i}))
	}
	require.Equal(t, 3, length(to), "two stacks and an envelope")
	require.Equal(t, 1, h.workers[0].HandOver(h.workers[1], 1))
	require.NoError(t, notify(h.workers[1], to, readWords, words{0, 3}))
	require.Equal(t, 3, length(to))
	require.Equal(t, 4, to.waits())
	h.settle()
	require.Len(t, r.got, 4)
}

// A house that is told counts as waiting from that moment.
func TestNoticeMakesReady(t *testing.T) {
	h := newHand(t, 1)
	w, to := h.workers[0], settleOn(h, 0, &reader{})
	warm(w, readWords)
	w.Now = 12345
	require.NoError(t, notify(w, to, readWords, words{}))
	require.EqualValues(t, 12345, to.readyAt)
	h.settle()
}

// A zero handler panics before anything is counted.
func TestNoticeByNobody(t *testing.T) {
	h := newHand(t, 2)
	r := &reader{}
	for worker := range 2 {
		to := settleOn(h, worker, r)
		tell(h, settleOn(h, 0, &writer{}), writerWrite, func(w *Engine) {
			for i := range 3 {
				s := w.Begin(readWords)
				*Message[words](s) = words{0, i}
				require.NoError(t, w.Push(to, s))
			}
			require.Panics(t, func() { notify(w, to, nil, words{}) })
		})
		h.settle()
		require.Zero(t, to.waits())
	}
	require.Len(t, r.got, 6)
}

// summer notes the numbers that it is told.
type summer struct {
	told    []uint64
	seconds []byte
}

func (s *summer) tell(n *NoticeStack[uint64]) Yield {
	s.told = append(s.told, n.Msg)
	return n.Return()
}

func (s *summer) second(n *NoticeStack[byte]) Yield {
	s.seconds = append(s.seconds, n.Msg)
	return n.Return()
}

var (
	summerTell   = newNotice((*summer).tell)
	summerSecond = newNotice((*summer).second)
)

// Short messages share envelopes for 128: on one worker, to another one, and from guests. Each
// comes once and in order, and is traced.
func TestShortMessages(t *testing.T) {
	const n = 300
	for way := range 3 {
		for _, traced := range []bool{false, true} {
			h := newHand(t, 2)
			a := &summer{}
			to, seen := settleOn(h, way%2, a), []uint64(nil)
			if traced {
				to.Owner().Trace = func(_ *House, s *Stack) {
					if s.by == summerTell {
						seen = append(seen, *Message[uint64](s))
					}
				}
			}
			send := func(w *Engine) {
				for i := range uint64(n) {
					number, second := i, byte(i)
					if way < 2 {
						require.NoError(t, notify(w, to, summerTell, number))
						continue
					}
					require.NoError(t, Tell(&h.guests, to, summerTell, &number))
					require.NoError(t, Tell(&h.guests, to, summerSecond, &second))
				}
				for i := range n {
					if way < 2 {
						require.NoError(t, notify(w, to, summerSecond, byte(i)))
					}
				}
			}
			if way < 2 {
				tell(h, settleOn(h, 0, &writer{}), writerWrite, send)
			} else {
				send(nil)
			}
			h.settle()
			require.Len(t, a.told, n)
			for i, number := range a.told {
				require.EqualValues(t, i, number)
			}
			require.Len(t, a.seconds, n)
			for i, number := range a.seconds {
				require.Equal(t, byte(i), number)
			}
			if traced {
				require.Equal(t, a.told, seen)
			}
			require.Zero(t, to.waits())
		}
	}
}

// sized is an actor that is told messages of all lengths.
type sized struct{}

func (*sized) l8(s *NoticeStack[[8]byte]) Yield   { return s.Return() }
func (*sized) l9(s *NoticeStack[[9]byte]) Yield   { return s.Return() }
func (*sized) l16(s *NoticeStack[[16]byte]) Yield { return s.Return() }
func (*sized) l17(s *NoticeStack[[17]byte]) Yield { return s.Return() }
func (*sized) l64(s *NoticeStack[[64]byte]) Yield { return s.Return() }
func (*sized) l65(s *NoticeStack[[65]byte]) Yield { return s.Return() }

func TestHowManyAnEnvelopeTakes(t *testing.T) {
	require.Equal(t, 128, newNotice((*sized).l8).bare.envelope.envelope.max)
	require.Equal(t, 64, newNotice((*sized).l9).bare.envelope.envelope.max)
	require.Equal(t, 64, newNotice((*sized).l16).bare.envelope.envelope.max)
	require.Equal(t, 16, newNotice((*sized).l17).bare.envelope.envelope.max)
	require.Equal(t, 16, newNotice((*sized).l64).bare.envelope.envelope.max)
	require.Nil(t, newNotice((*sized).l65).bare.envelope)
}
