package cluster

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
)

// eight is a message of 64 bytes.
type eight [8]uint64

// sink counts what it is told.
type sink struct{ n int }

func (k *sink) tell(s *core.NoticeStack[eight]) core.Yield { k.n++; return s.Return() }

func (k *sink) count(s *core.AskStack[eight, eight]) core.Yield {
	return s.Return(eight{uint64(k.n)})
}

var (
	drip  = core.NewNoticeMethod[eight]("test.sink.drip")
	level = core.NewMethod[eight, eight]("test.sink.level")
	_     = core.HandleNotice((*sink).tell).As(drip)
	_     = core.Handle((*sink).count).As(level)
)

// tap sends rounds: so many notices, and an ask, which is answered behind them. Some rounds are
// away at a time, with no more notices than a mailbox holds.
type tap struct{}

type tapStep struct {
	core.AskStack[tapOf, struct{}]
	begun int
	away  [16]core.Future[eight]
}

type tapOf struct {
	to      core.AnyAddress
	rounds  int
	notices int // of each round
}

func (*tap) pour(s *tapStep) core.Yield {
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
			for range s.Req.notices {
				if err := drip.At(s.Req.to).Notice(s, eight{}); err != nil {
					return s.Throw(err)
				}
			}
			level.At(s.Req.to).Ask(s, f, eight{})
		}
		waits = waits || f.Waiting()
	}
	if waits {
		return core.SuspendAny(s, (*tap).pour)
	}
	return s.Return(struct{}{})
}

var tapPour = core.Handle((*tap).pour)

// pours is a pair of nodes with a sink at one.
func pours(t testing.TB) (here, there place, far core.AnyAddress) {
	there = newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	_, err := core.SpawnWith(there.sys, func() *sink { return &sink{} }, core.Props{Name: "sink"})
	if err != nil {
		t.Fatal(err)
	}
	here = newPlace(t, Config{Name: "here", Peers: map[string]string{"there": there.node.Addr()}})
	far, err = here.node.Lookup(t.Context(), "there", "/user/sink")
	if err != nil {
		t.Fatal(err)
	}
	return here, there, far
}

// pour has a tap send so many rounds.
func pour(t testing.TB, by core.Port[tapOf, struct{}], far core.AnyAddress, rounds, notices int) {
	if _, err := core.Ask(t.Context(), by, tapOf{far, rounds, notices}); err != nil {
		t.Error(err)
	}
}

func BenchmarkRemote(b *testing.B) {
	for _, c := range []struct {
		name    string
		notices int
	}{{"notices", 60}, {"asks", 0}} {
		b.Run(c.name, func(b *testing.B) {
			here, _, far := pours(b)
			by := tapPour.At(core.Spawn(here.sys.Workers()[0], func() *tap { return &tap{} }))
			pour(b, by, far, 1000, c.notices)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			pour(b, by, far, b.N/max(c.notices, 1), c.notices)
			b.StopTimer()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N), "mallocs/op")
		})
	}
}

// BenchmarkGuest is an ask of a goroutine, one after the other.
func BenchmarkGuest(b *testing.B) {
	_, _, far := pours(b)
	for range b.N {
		if _, err := core.Ask(b.Context(), level.At(far), eight{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTCP is what two goroutines make of it that write and read buffered.
func BenchmarkTCP(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	done := make(chan bool)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		r := bufio.NewReaderSize(c, 64<<10)
		var head [4]byte
		buf := make([]byte, 1024)
		for range b.N {
			io.ReadFull(r, head[:])
			io.ReadFull(r, buf[:binary.LittleEndian.Uint32(head[:])])
		}
		done <- true
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(c, 64<<10)
	var msg [68]byte
	binary.LittleEndian.PutUint32(msg[:], 64)
	b.ResetTimer()
	for range b.N {
		w.Write(msg[:])
	}
	w.Flush()
	<-done
}
