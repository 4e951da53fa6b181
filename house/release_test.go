package house_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/pool"
)

// parting is a message, and a reply, that does something when it is released.
type parting struct{ last func() }

func (p *parting) Release() {
	if p.last != nil {
		p.last()
	}
}

type (
	partingNotice struct{ core.NoticeStack[parting] }
	partingAsk    struct {
		core.AskStack[parting, parting]
	}
)

var (
	onParting    = core.HandleNotice(func(_ *actor, s *partingNotice) core.Yield { return s.Return() })
	onPartingAsk = core.Handle(func(_ *actor, s *partingAsk) core.Yield { return s.Return(s.Req) })
)

// parted is a simulation in which parting messages tell, and ask, when they are released.
type parted struct {
	*housetest.Sim
	t        *testing.T
	a, small core.Address[actor] // small has a mailbox for one message
	p        core.Port[func(*task) core.Yield, int]
	tells    parting
	heard    int   // released messages' notices
	refused  error // of them
	calls    []core.Pending[int]
}

func newParted(t *testing.T) *parted {
	d := &parted{Sim: housetest.New(t, 1, house.Config{Workers: 2}), t: t}
	d.a, d.p = spawn(d)
	var err error
	d.small, err = core.SpawnWith(d, func() *actor { return &actor{} }, core.Props{Mailbox: core.Bounded(1, core.Reject)})
	require.NoError(t, err)
	d.tells.last = func() {
		require.Equal(t, d.refused, core.Notice(onHear.At(d.a), func() { d.heard++ }))
		d.calls = append(d.calls, core.Begin(d.p, reply(1)))
	}
	return d
}

// told requires that so many were released meanwhile.
func (d *parted) told(n int, want error) {
	d.t.Helper()
	d.Rest()
	require.Len(d.t, d.calls, n)
	for _, c := range d.calls {
		_, err := c.Get()
		require.Equal(d.t, want, err)
	}
	d.calls = nil
	if want == nil {
		require.Equal(d.t, n, d.heard)
		d.heard = 0
	}
}

// TestReleaseThatTells: a message may tell and ask when it is released, by whomever: a worker, a
// guest whose notice is refused, one who has got an answer, one whose notice comes too late.
func TestReleaseThatTells(t *testing.T) {
	d := newParted(t)
	require.NoError(t, core.Notice(onParting.At(d.a), d.tells))
	d.told(1, nil)
	require.NoError(t, core.Notice(onParting.At(d.small), parting{}))
	require.Equal(t, core.ErrMailboxFull, core.Notice(onParting.At(d.small), d.tells))
	d.told(1, nil)
	_, err := housetest.Ask(t, d.Sim, onPartingAsk.At(d.a), d.tells)
	require.NoError(t, err)
	d.told(2, nil) // the request's, the reply's
	require.NoError(t, shutdown(d.System))
	d.refused = core.ErrStopped
	require.Equal(t, core.ErrStopped, core.Notice(onParting.At(d.a), d.tells))
	d.told(1, core.ErrStopped)
}

// TestTrimDuringRelease: a guest that takes its time there keeps nobody's pools.
func TestTrimDuringRelease(t *testing.T) {
	d := newParted(t)
	began, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error)
	require.NoError(t, core.Notice(onParting.At(d.small), parting{}))
	go func() {
		done <- core.Notice(onParting.At(d.small), parting{func() {
			close(began)
			<-goOn
			d.tells.last()
		}})
	}()
	<-began
	d.Now += 2 * pool.TrimEvery
	d.Rest()
	close(goOn)
	require.Equal(t, core.ErrMailboxFull, <-done)
	d.told(1, nil)
}
