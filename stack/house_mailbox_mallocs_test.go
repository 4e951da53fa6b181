package stack

import (
	"fmt"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// No mailbox makes garbage: neither with messages that it takes, nor with those that it refuses,
// drops or sorts.
func TestMailboxMallocs(t *testing.T) {
	if invariant.Race || invariant.Enabled {
		t.Skip("checks allocate")
	}
	for _, m := range mailboxes {
		t.Run(fmt.Sprintf("%s %d %d", m.kind, m.mail.Max, m.mail.Full), func(t *testing.T) {
			h := newHand(t, 2)
			l := &ledger{}
			mail := m.mail
			if m.kind == "priority" {
				mail.Sort = func() Mailbox { return NewPriority(func(s *Stack) int { return Message[words](s).N }) }
			}
			to, make := NewHouse(func() *ledger { return l })
			to.Mailbox(mail)
			h.drivers[0].Register(to, make, h.workers[0])
			some := func() {
				for range 100 {
					for i := range 20 {
						_ = notify(h.workers[0], to, ledgerShort, words{0, i})
						_ = notify(h.workers[0], to, ledgerLonge, words{1, i})
						_ = notify(h.workers[1], to, ledgerShort, words{2, i})
						_ = Tell(&h.guests, to, ledgerShort, &words{3, i})
						l.wrong = ""
						l.last = [8]int{-1, -1, -1, -1}
					}
					h.workers[1].RunDeferred()
					h.settle()
				}
			}
			some()
			// One run, as AllocsPerRun would divide the count of several.
			least := testing.AllocsPerRun(1, some)
			for range 2 {
				least = min(least, testing.AllocsPerRun(1, some))
			}
			if n := least; n != 0 {
				t.Errorf("%v mallocs in 8,000 messages", n)
			}
		})
	}
}
