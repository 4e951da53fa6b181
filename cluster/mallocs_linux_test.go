//go:build !portable

package cluster

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/pool"
)

// letter is a message with bytes, and with a value that says itself what it is as bytes.
type letter struct {
	N    int
	Raw  []byte
	View pool.Bytes
	Sign signed
}

type signed struct{ n, check uint64 }

func (m *signed) AppendWire(dst []byte) []byte {
	return wire.AppendUvarint(wire.AppendUvarint(dst, m.n), m.check)
}

func (m *signed) ReadWire(r *wire.Reader) error {
	if m.n, m.check = r.Uvarint(), r.Uvarint(); m.check != ^m.n {
		return errors.New("other bytes")
	}
	return nil
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
			mail.At(s.Req.to).Ask(s, f, letter{s.begun, raw, view, signed{uint64(s.begun), ^uint64(s.begun)}})
		}
		waits = waits || f.Waiting()
	}
	if waits {
		return core.SuspendAny(s, (*poster).post)
	}
	return s.Return(struct{}{})
}

var posterPost = core.Handle((*poster).post)

// TestLinksAllocateNothing: no malloc for a million notices, nor for a million asks, at either end:
// of numbers, of bytes, of what is coded by hand, with a trace.
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
		by := posterPost.At(core.Spawn(here.sys.Workers()[1], func() *poster { return &poster{} }))
		housetest.ZeroAlloc(t, n, func(n int) { pour(t, by, far, n, 0) })
	})
}

// TestLongLoadCollectsNothing: a minute of notices and asks, both ends here, begins no collection.
func TestLongLoadCollectsNothing(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG")
	}
	here, _, far := pours(t)
	by := tapPour.At(core.Spawn(here.sys.Workers()[1], func() *tap { return &tap{} }))
	pour(t, by, far, 10_000, 50)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for began := time.Now(); time.Since(began) < time.Minute; n += 10_000 * 51 {
		pour(t, by, far, 10_000, 50)
	}
	runtime.ReadMemStats(&after)
	t.Logf("%d messages, %d mallocs", n, after.Mallocs-before.Mallocs)
	require.Equal(t, before.NumGC, after.NumGC)
}
