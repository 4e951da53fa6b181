//go:build !portable

package cluster

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync/atomic"
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

// TestLinksOverTLSAllocateNothingButRecords: one malloc for each record that is read, at most,
// which is crypto/tls's own.
func TestLinksOverTLSAllocateNothingButRecords(t *testing.T) {
	n := 100_000
	if housetest.Slow {
		n = 5_000
	}
	secured := securing(t)
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", TLS: secured("there")})
	_, err := core.SpawnWith(there.sys, func() *sink { return &sink{} }, core.Props{Name: "sink"})
	require.NoError(t, err)
	between, records := countRecords(t, there.node.Addr())
	here := newPlace(t, Config{Name: "here", TLS: secured("here"), Peers: map[string]string{"there": between}})
	far, err := here.node.Lookup(t.Context(), "there", "/user/sink")
	require.NoError(t, err)
	by := tapPour.At(core.Spawn(here.sys.Workers()[1], func() *tap { return &tap{} }))
	for _, notices := range []int{0, 60} { // of each ask
		pour(t, by, far, n/10, notices)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		passed := records.Load()
		pour(t, by, far, n, notices)
		runtime.ReadMemStats(&after)
		mallocs, passed := int64(after.Mallocs-before.Mallocs), records.Load()-passed
		t.Logf("%d notices an ask: %d mallocs for %d records", notices, mallocs, passed)
		require.LessOrEqual(t, mallocs, passed+passed/50+100)
	}
}

// countRecords is a way to an address that counts the records of TLS that pass, both ways.
func countRecords(t *testing.T, to string) (address string, n *atomic.Int64) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	n = &atomic.Int64{}
	pass := func(from, to net.Conn) {
		defer to.Close()
		var head []byte
		left := 0 // of the record
		for b := make([]byte, 64<<10); ; {
			k, err := from.Read(b)
			for in := b[:k]; len(in) > 0; {
				m := min(left, len(in))
				in, left = in[m:], left-m
				for len(in) > 0 && left == 0 && len(head) < 5 {
					head, in = append(head, in[0]), in[1:]
				}
				if len(head) == 5 {
					left, head = int(head[3])<<8|int(head[4]), head[:0]
					n.Add(1)
				}
			}
			if _, err2 := to.Write(b[:k]); err != nil || err2 != nil {
				return
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			d, err := net.Dial("tcp", to)
			if err != nil {
				c.Close()
				return
			}
			go pass(c, d)
			go pass(d, c)
		}
	}()
	return l.Addr().String(), n
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
