package house_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// teller counts what it handles, and begins with the first when it may.
type teller struct {
	handled atomic.Int64
	begun   chan struct{}
	goes    chan struct{}
}

// letterStack has a local: its messages don't share envelopes.
type letterStack struct {
	core.NoticeStack[uint64]
	_ int
}

func (a *teller) count() {
	if a.handled.Add(1) == 1 {
		close(a.begun)
		<-a.goes
	}
}

func (a *teller) stack(s *letterStack) core.Yield               { a.count(); return s.Return() }
func (a *teller) letter(s *core.NoticeStack[uint64]) core.Yield { a.count(); return s.Return() }

// closer stops a teller from its own worker.
type closer struct {
	to core.Address[teller]
	of *teller
}

func (c *closer) stop(s *core.AskStack[int, int64]) core.Yield {
	c.to.Stop()
	return s.Return(c.of.handled.Load())
}

var (
	tellerStack  = core.HandleNotice((*teller).stack)
	tellerLetter = core.HandleNotice((*teller).letter)
	closerStop   = core.Handle((*closer).stop)
)

// TestStopAfterOneMore: behind 10,000 messages, while a worker handles them, a stop from a
// guest or from another worker acts after at most one message more than had begun when it had
// been sent.
func TestStopAfterOneMore(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 2, MailboxMax: -1})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	for round := range 50 {
		for _, by := range []string{"a guest", "another worker"} {
			for _, envelopes := range []bool{false, true} {
				a := &teller{begun: make(chan struct{}), goes: make(chan struct{})}
				at := core.Spawn(sys.Workers()[0], func() *teller { return a })
				stop := closerStop.At(core.Spawn(sys.Workers()[1], func() *closer { return &closer{at, a} }))
				for range 10_000 {
					if envelopes {
						require.NoError(t, core.Notice(tellerLetter.At(at), 0))
					} else {
						require.NoError(t, core.Notice(tellerStack.At(at), 0))
					}
				}
				<-a.begun
				close(a.goes)
				var sent int64
				if by == "a guest" {
					at.Stop()
					sent = a.handled.Load()
				} else {
					sent, err = core.Ask(t.Context(), stop, 0)
					require.NoError(t, err)
				}
				require.ErrorIs(t, at.StopWait(t.Context()), nil)
				if n := a.handled.Load(); n > sent+1 || n == 10_000 && sent < 9_999 {
					t.Errorf("round %d, by %s, envelopes %t: %d messages are handled, %d had begun when the stop had been sent", round, by, envelopes, n, sent)
				}
			}
		}
	}
	require.NoError(t, sys.Shutdown(t.Context()))
}
