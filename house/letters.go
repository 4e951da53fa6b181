package house

import (
	"cmp"
	"slices"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// LetterCount is the number of notices of one type that nobody handled for one reason.
type LetterCount struct {
	Type   string // of the messages; "other": all types beyond those that a worker counts apart
	Reason lost.Reason
	Count  uint64
}

// DeadLetters returns how many notices nobody handled since the system began, by type and reason,
// the most frequent first. A worker counts the notices of 64 handlers apart. Any goroutine may call
// it, also after Shutdown. Each dead letter is an event too: see core.Events.
func (s *System) DeadLetters() []LetterCount {
	sums := map[LetterCount]uint64{}
	add := func(by *stack.Handler, why lost.Reason, n uint64) {
		kind := "other"
		if by != nil {
			kind = by.DeadLetter(nil, why).Type
		}
		sums[LetterCount{Type: kind, Reason: why}] += n
	}
	for _, w := range s.workers {
		w.hot.Tally.Each(add)
	}
	s.guests.Events.Tally.Each(add)
	var all []LetterCount
	for c, n := range sums {
		c.Count = n
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b LetterCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

// Topics returns the topics of all events. Only the runtime calls it: core.Events.
func (s *System) Topics() *stack.Events { return &s.guests.Events }

// reportLost logs that s, a notice to h, won't be handled, at a limited rate.
func (w *Worker) reportLost(h *stack.House, s *stack.Stack, why lost.Reason) {
	skipped, yes := w.lost.due(w.hot.Now)
	if !yes {
		return
	}
	letter := s.Handler().DeadLetter(h, why)
	defer func() { recover() }() // a handler of the user's: its panic must not end the worker
	w.system.config.Logger.Info("stackhouse: nobody handles a notice", "reason", why.String(), "message", letter.Type,
		"to", describe(letter.To), "worker", w.hot.Index, "skipped", skipped)
}
