//go:build !portable

package cluster

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/pool"
)

// letter is a message with bytes.
type letter struct {
	N    int
	Raw  []byte
	View pool.Bytes
}

var raw, view = []byte("a text in a slice"), new(pool.Shard).Copy([]byte("a text in a slab"))

func (k *sink) read(s *core.AskStack[letter, letter]) core.Yield {
	if core.TraceOf(s).ID[0] != 1 || string(s.Req.Raw) != string(raw) || string(s.Req.View.B()) != string(view.B()) {
		panic("other bytes")
	}
	return s.Return(s.Req)
}

var (
	mail = core.NewMethod[letter, letter]("test.sink.mail")
	_    = core.Handle((*sink).read).As(mail)
)

// poster asks by letters, as often as it is told, some at a time.
type poster struct{}

type postStep struct {
	core.AskStack[tapOf, struct{}]
	begun int
	away  [16]core.Future[letter]
}

func (*poster) post(s *postStep) core.Yield {
	if s.begun == 0 {
		core.SetTrace(s, core.Trace{ID: [16]byte{1}})
	}
	waits := false
	for i := range s.away {
		f := &s.away[i]
		if f.Ready() {
			if _, err := f.Get(); err != nil {
				return s.Throw(err)
			}
		}
		if !f.Waiting() && s.begun < s.Req.rounds {
			s.begun++
			mail.At(s.Req.to).Ask(s, f, letter{s.begun, raw, view})
		}
		waits = waits || f.Waiting()
	}
	if waits {
		return core.SuspendAny(s, (*poster).post)
	}
	return s.Return(struct{}{})
}

var posterPost = core.Handle((*poster).post)

// TestLinksAllocateNothing: no malloc for a million notices, nor for a million asks, at either end,
// be they numbers or bytes, and bring a trace along.
func TestLinksAllocateNothing(t *testing.T) {
	n := 1_000_000
	if housetest.Slow {
		n = 10_000
	}
	here, _, far := pours(t)
	by := tapPour.At(core.Spawn(here.sys.Workers()[1], func() *tap { return &tap{} }))
	t.Run("notices", func(t *testing.T) {
		housetest.ZeroAlloc(t, n, func(n int) { pour(t, by, far, n/50, 50) })
	})
	t.Run("asks", func(t *testing.T) {
		housetest.ZeroAlloc(t, n, func(n int) { pour(t, by, far, n, 0) })
	})
	t.Run("bytes", func(t *testing.T) {
		by := posterPost.At(core.Spawn(here.sys.Workers()[1], func() *poster { return &poster{} }))
		housetest.ZeroAlloc(t, n, func(n int) { pour(t, by, far, n, 0) })
	})
}
