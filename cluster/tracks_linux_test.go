package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// lone asks an actor again and again, once at a time.
type lone struct {
	to    core.AnyAddress
	asked *atomic.Int64 // by all of them
	over  *atomic.Bool
}

type loneStep struct {
	core.NoticeStack[struct{}]
	rep core.Future[addRep]
}

func (l *lone) ask(s *loneStep) core.Yield {
	add.At(l.to).Ask(s, &s.rep, addReq{1})
	return core.Suspend(s, (*lone).answered)
}

func (l *lone) answered(s *loneStep) core.Yield {
	if _, err := s.rep.Get(); err != nil || l.over.Load() {
		return s.Return()
	}
	l.asked.Add(1)
	return l.ask(s)
}

// loneAsk is made in init, as ask refers to answered, and that to ask.
var loneAsk core.NoticeHandler[lone, struct{}]

func init() { loneAsk = core.HandleNotice((*lone).ask) }

// TestLongTracks has two processes, and links of one track and of several: how long an ask takes
// while goroutines tell another actor of the same node as much as the link takes, and while several
// actors ask one each.
func TestLongTracks(t *testing.T) {
	const most = 64
	if isChild() {
		there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", Tracks: tracksMax})
		for i := range most {
			_, err := core.SpawnWith(there.sys, func() *ledger { return &ledger{} }, core.Props{Name: fmt.Sprint(i)})
			require.NoError(t, err)
		}
		fmt.Println("listens", there.node.Addr())
		io.Copy(io.Discard, os.Stdin)
		return
	}
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG")
	}
	there := newChild(t)
	here := newPlace(t, Config{Name: "here"})
	by := []int{1, 3, tracksMax}
	far := map[int][]core.AnyAddress{}
	for _, tracks := range by {
		n, err := Start(t.Context(), here.sys, Config{Name: fmt.Sprint("here", tracks), Peers: map[string]string{"there": there.address}, Tracks: tracks, Plaintext: true})
		require.NoError(t, err)
		for i := range most {
			to, err := n.Lookup(t.Context(), "there", fmt.Sprint("/user/", i))
			require.NoError(t, err)
			far[tracks] = append(far[tracks], to)
		}
	}
	for _, size := range []int{200, 60 << 10, 1 << 20} {
		took := map[int][]time.Duration{}
		for range 6 {
			for _, tracks := range by {
				ctx, stop := context.WithCancel(t.Context())
				var all sync.WaitGroup
				for range 4 {
					all.Go(func() {
						for drop := padded(0, size); core.NoticeWait(ctx, tells.At(far[tracks][0]), drop) == nil; {
						}
					})
				}
				took[tracks] = append(took[tracks], asked(t, far[tracks][1], 500*time.Millisecond)...)
				stop()
				all.Wait()
				for err := core.ErrMailboxFull; err == core.ErrMailboxFull; { // until the flood has come
					_, err = core.Ask(t.Context(), add.At(far[tracks][0]), addReq{1})
				}
			}
		}
		for _, tracks := range by {
			all := took[tracks]
			slices.Sort(all)
			n := len(all)
			t.Logf("beside notices of %7d bytes, %d tracks: p50 %8v, p99 %8v", size, tracks, all[n/2].Round(time.Microsecond), all[n*99/100].Round(time.Microsecond))
			require.Less(t, all[n*99/100], 100*time.Millisecond)
		}
	}
	for _, n := range []int{1, 4, 16, most} {
		each := map[int][]time.Duration{}
		for range 7 {
			for _, tracks := range by {
				each[tracks] = append(each[tracks], together(t, here.sys, far[tracks][:n], 300*time.Millisecond))
			}
		}
		for _, tracks := range by {
			slices.Sort(each[tracks])
			t.Logf("%2d actors ask one each, %d tracks: an answer every %7v", n, tracks, each[tracks][3])
		}
	}
}

// asked asks now and then, for some time, and returns how long each took.
func asked(t *testing.T, far core.AnyAddress, d time.Duration) (took []time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		began := time.Now()
		_, err := core.Ask(t.Context(), add.At(far), addReq{1})
		require.NoError(t, err)
		took = append(took, time.Since(began))
	}
	return took
}

// together has an actor ask each of some actors, for some time, and returns how often one answers.
func together(t *testing.T, by *house.System, far []core.AnyAddress, d time.Duration) time.Duration {
	var asked atomic.Int64
	var over atomic.Bool
	for _, to := range far {
		at := core.Spawn(by, func() *lone { return &lone{to, &asked, &over} })
		require.NoError(t, core.NoticeWait(t.Context(), loneAsk.At(at), struct{}{}))
	}
	time.Sleep(20 * time.Millisecond)
	n, began := asked.Load(), time.Now()
	time.Sleep(d)
	n, took := asked.Load()-n, time.Since(began)
	over.Store(true)
	require.Positive(t, n)
	return took / time.Duration(n)
}
