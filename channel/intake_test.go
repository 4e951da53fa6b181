package channel_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
)

// Connections under Config.InputMax: of the smallest, 1 byte, nobody ever has room for more than a
// small request, and each long one is read in its turn.

// intakeWatch looks at the intake of a front's site between any two of its turns.
type intakeWatch struct {
	most, lost atomic.Int64
	stop       atomic.Bool
}

// look is a message of a front to itself.
type look struct {
	watch *intakeWatch
	self  core.NoticePort[look]
}

type lookStack struct{ core.NoticeStack[look] }

var frontLook = core.HandleNotice((*front).look)

func (f *front) look(s *lookStack) core.Yield {
	watch := s.Msg.watch
	if len(f.conns) > 0 {
		h := channel.Holds[request, reply](f.conns[0])
		watch.most.Store(max(watch.most.Load(), int64(h.Intake)))
		watch.lost.Store(max(watch.lost.Load(), int64(h.Lost)))
	}
	if !watch.stop.Load() {
		s.Msg.self.Notice(s, s.Msg)
	}
	return s.Return()
}

// watchIntake has every site watched, until the test ends, on which a connection has sent a mark.
func (w *world) watchIntake() *intakeWatch {
	watch := &intakeWatch{}
	for _, at := range w.fronts {
		self := frontLook.At(at)
		core.Notice(self, look{watch, self})
	}
	w.Cleanup(func() { watch.stop.Store(true) })
	return watch
}

// used is what the intake counts that counts the most.
func (w *world) used() int {
	w.Helper()
	held := w.peek()
	require.Zero(w, held.Lost)
	return held.Intake
}

// marked is a connection by which the test looks at its site.
func (w *world) marked() *client {
	w.Helper()
	c := w.dial()
	c.send("mark")
	c.expect("mark")
	return c
}

// part writes a part of a request.
func (c *client) part(text string) {
	c.t.Helper()
	_, err := io.WriteString(c, text)
	require.NoError(c.t, err)
}

const slow = "refused: "

// Long requests of many connections take no more than there may be, and each is answered.
func TestInputMax(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			const conns, long, most = 20, 1 << 20, 4 << 20
			w := openWorld(t, place{network: network, workers: 2}, func(c *config) { c.InputMax = most }, virtual)
			watch := w.watchIntake()
			half := strings.Repeat("x", long/2-1)
			var all []*client
			var group sync.WaitGroup
			goOn := make(chan struct{})
			for range conns {
				c := w.marked()
				all = append(all, c)
				group.Go(func() {
					io.WriteString(c, half) // a Unix socket doesn't take so much unread
					<-goOn
					io.WriteString(c, half+"\n")
				})
			}
			w.await("half of the requests, or what there may be of them", func() bool { return w.used() >= most/2 })
			close(goOn)
			for _, c := range all {
				c.expect(half + half)
			}
			group.Wait()
			require.LessOrEqual(t, watch.most.Load(), int64(most/2+long*5/4+conns<<10))
			require.Zero(t, watch.lost.Load())
			w.await("nothing is left", func() bool { return w.used() == 0 })
		})
	}
}

// Whoever has used up all there may be, small requests are answered, and a long one at a time.
func TestInputMaxUsedUp(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		const holders, most = 80, 16 << 10
		w := openWorld(t, p, func(c *config) { c.InputMax = most })
		var all []*client
		start := strings.Repeat("x", 900)
		for range holders {
			c := w.marked()
			c.part(start)
			all = append(all, c)
		}
		w.await("all is used up", func() bool { return w.used() >= most/p.workers })
		watch := w.watchIntake()
		old, small := all[0], strings.Split(strings.Repeat("y ", 1000), " ")
		old.send("")
		old.expect(start)
		for _, c := range []*client{old, w.dial()} {
			c.send(small[:1000]...)
			c.expect(small[:1000]...)
			c.send("a")
			c.expect("a")
		}
		long := big(500_000)
		for _, c := range []*client{old, w.dial()} {
			for range 3 {
				c.send(long, "b")
				c.expect(long, "b")
			}
		}
		var group sync.WaitGroup
		for range 10 {
			c := w.dial()
			group.Go(func() { io.WriteString(c, long+"\n"+long+"\nc\n") })
			group.Go(func() { c.expect(long, long, "c") })
		}
		for _, c := range all[1:] {
			c.send("")
			c.expect(start)
		}
		group.Wait()
		require.LessOrEqual(t, watch.most.Load(), int64(most+500_000*5/4+(holders+11)<<10))
	})
}

// Requests in flight count, whichever reads they came with: of 8 KB each there are no more than
// there is room for.
func TestInputMaxOfManyInFlight(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		const conns, each, size, most = 4, 100, 8000, 1 << 20
		w := openWorld(t, p, func(c *config) { c.InputMax = most })
		var all []*client
		var group sync.WaitGroup
		body := strings.Repeat("x", size)
		for range conns {
			c := w.marked()
			all = append(all, c)
			group.Go(func() { io.WriteString(c, strings.Repeat("hold 1 "+body+"\n", each)) })
		}
		w.await("half of what there may be", func() bool { return w.keeper.holding.Load() >= most/2/size/int64(p.workers) })
		for begun := int64(-1); begun != w.keeper.holding.Load(); time.Sleep(20 * time.Millisecond) {
			begun = w.keeper.holding.Load()
		}
		require.LessOrEqual(t, w.keeper.holding.Load(), int64(most/size+conns))
		w.letGo(1)
		for _, c := range all {
			c.expect(slices.Repeat([]string{body}, each)...)
		}
		group.Wait()
	})
}

// Requests whose length is announced are read to their ends, and no further.
func TestInputMaxOfAnnouncedLengths(t *testing.T) {
	w := openWorld(t, lone, nil)
	w.letGo(1)
	at := core.Spawn(w.system.Workers()[0], func() *redis { return &redis{w.holds} })
	server, err := channel.Listen(w.ctx, channel.Config[resp.Command, resp.Reply]{
		Network: "tcp", Address: address(t, "tcp"), InputMax: 1,
		Codec: func() channel.Codec[resp.Command, resp.Reply] {
			return &respCodec{resp.Codec{Decoder: resp.NewDecoder(resp.Limits{MaxBulk: 1 << 20})}}
		},
	}, redisServe, at)
	require.NoError(t, err)
	var text, want strings.Builder
	for _, n := range []int{1 << 20, 3, 100_000, 1_000, 30_000, 20_000, 1, 1 << 20} {
		fmt.Fprintf(&text, "*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n", n, big(n))
		fmt.Fprintf(&want, "$%d\r\n%s\r\n", n, big(n))
	}
	var group sync.WaitGroup
	for range 5 {
		c := dialTo(t, "tcp", server.Addr())
		group.Go(func() { io.WriteString(c, text.String()) })
		group.Go(func() {
			got := make([]byte, want.Len())
			_, err := io.ReadFull(c.r, got)
			assert.NoError(t, err)
			assert.True(t, string(got) == want.String())
		})
	}
	group.Wait()
}

// A request of which nothing comes any more has less time while others have no room: then it is
// refused, and there is room again.
func TestInputMaxAndSilence(t *testing.T) {
	if !netio.CanShare {
		t.Skip("goroutines tell this poller of bytes, and a virtual clock doesn't wait for them")
	}
	const most, part = 256 << 10, 120 << 10
	w := openWorld(t, lone, func(c *config) { c.InputMax = most }, virtual)
	first, second := w.marked(), w.marked()
	text := strings.Repeat("x", part) // two minutes more
	first.part(text)
	w.await("the bytes", func() bool { return w.used() >= part })
	require.Less(t, w.used(), most)
	for range 6 {
		w.pass(10 * time.Second)
	}
	require.Zero(t, w.server.Stats().RequestTimeouts, "there is room")
	w.pass(5 * time.Second) // who is second has more time left when the first one's is looked at
	second.part(text)
	w.await("all is used up", func() bool { return w.used() >= most })
	for range 6 {
		w.pass(5 * time.Second)
	}
	require.EqualValues(t, 1, w.server.Stats().RequestTimeouts)
	first.expect(slow + channel.ErrSlowRequest.Error())
	first.expectEnd()
	for range 10 {
		w.pass(10 * time.Second)
	}
	second.send("")
	second.expect(text)
	require.EqualValues(t, 1, w.server.Stats().RequestTimeouts, "there is room")
	w.await("nothing is left", func() bool { return w.used() == 0 })
}

// Who has the turn loses it by silence, and by its end.
func TestTurnOfTheIntake(t *testing.T) {
	if !netio.CanShare {
		t.Skip("goroutines tell this poller of bytes, and a virtual clock doesn't wait for them")
	}
	w := openWorld(t, lone, func(c *config) { c.InputMax = 1 }, virtual)
	w.marked()
	part := big(50_000)
	lead := func() *client {
		c := w.dial()
		c.part(part)
		w.await("it leads", func() bool { return w.used() >= len(part) })
		return c
	}
	const leading = 64 << 10 // bytes of the slab of who leads
	queue := func() (all []*client) {
		for range 3 {
			c := w.dial()
			c.send(part)
			all = append(all, c)
		}
		w.await("the starts", func() bool { return w.used() >= leading+3<<10 })
		return all
	}
	silent := lead()
	for range 27 {
		w.pass(time.Second)
	}
	w.pass(500 * time.Millisecond) // between two looks at who leads
	waiting := queue()
	w.pass(900 * time.Millisecond)
	require.Zero(t, w.server.Stats().RequestTimeouts, "nobody waited")
	w.pass(200 * time.Millisecond)
	require.EqualValues(t, 1, w.server.Stats().RequestTimeouts)
	silent.expect(slow + channel.ErrSlowRequest.Error())
	silent.expectEnd()
	for _, c := range waiting {
		c.expect(part)
	}
	for _, end := range []func(*client){
		(*client).reset,
		(*client).halfClose,
		func(c *client) { c.send("", "decode-panic") },
		func(c *client) { c.send("", "!") },
		func(c *client) { c.send("") },
	} {
		w.await("nothing is left", func() bool { return w.used() == 0 })
		leader, waiting := lead(), queue()
		end(leader)
		for _, c := range waiting {
			c.expect(part)
		}
	}
	require.EqualValues(t, 1, w.server.Stats().RequestTimeouts, "nobody is timed that isn't read")
}

// Who has the turn while others wait must send 32 KiB in a second, at least.
func TestTurnOfTheIntakeIsForTheQuick(t *testing.T) {
	if !netio.CanShare {
		t.Skip("goroutines tell this poller of bytes, and a virtual clock doesn't wait for them")
	}
	w := openWorld(t, lone, func(c *config) { c.InputMax = 1 }, virtual)
	other := w.marked()
	part := big(50_000)
	for _, rate := range []int{80_000, 4_000} {
		leader, next := w.dial(), w.dial()
		leader.send(big(900_000)) // it leads for a longer one before
		leader.expect(big(900_000))
		leader.part(part)
		w.await("it leads", func() bool { return w.used() >= len(part) })
		next.send(part)
		w.await("the start", func() bool { return w.used() >= 64<<10+1<<10 })
		for range 20 {
			leader.part(big(rate / 2))
			for range rate / 1000 { // it reads 1 KiB a turn
				other.send("a") // the poller tells in the order of arrival
				other.expect("a")
			}
			w.pass(time.Second / 2)
			if w.server.Stats().RequestTimeouts > 0 {
				break
			}
		}
		if rate == 80_000 {
			require.Zero(t, w.server.Stats().RequestTimeouts)
			leader.send("")
			leader.expect(part + strings.Repeat(big(rate/2), 20))
		} else {
			require.EqualValues(t, 1, w.server.Stats().RequestTimeouts)
			leader.expect(slow + channel.ErrSlowRequest.Error())
		}
		next.expect(part)
	}
}

// Who has the turn has it until its request is answered, though it has begun another one.
func TestTurnOfTheIntakeIsForTheAnswer(t *testing.T) {
	if !netio.CanShare {
		t.Skip("goroutines tell this poller of bytes, and a virtual clock doesn't wait for them")
	}
	w := openWorld(t, lone, func(c *config) { c.InputMax = 1 }, virtual)
	leader, next, part := w.marked(), w.dial(), big(50_000)
	leader.part("hold 1 " + part + "\nb")
	w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
	next.send(part)
	w.await("the start", func() bool { return w.used() >= 64<<10+1<<10 })
	for range 5 {
		w.pass(time.Second)
	}
	w.letGo(1)
	w.pass(time.Millisecond)
	leader.expect(part)
	leader.send("")
	leader.expect("b")
	next.expect(part)
	require.Zero(t, w.server.Stats().RequestTimeouts)
}

// Who has the turn keeps it until its request is answered, though it sends no more.
func TestTurnOfTheIntakeIsKept(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		p.workers = 1
		w := openWorld(t, p, func(c *config) { c.InputMax = 1 })
		part := big(50_000)
		late, next, small := w.dial(), w.marked(), w.dial()
		late.send("hold 1 "+part, part)
		late.halfClose()
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		next.send(part)
		for range 1000 {
			small.send("a")
			small.expect("a")
			held := w.peek()
			require.LessOrEqual(t, held.Input, 1<<10)
			require.LessOrEqual(t, held.Intake, 64<<10+3<<10, "nobody reads a second one")
		}
		w.letGo(1)
		late.expect(part, part)
		late.expectEnd()
		next.expect(part)
	})
}

// Who has the turn and isn't answered for RequestTimeout, or whose connection has ended, has others
// have theirs.
func TestTurnOfTheIntakeEnds(t *testing.T) {
	if !netio.CanShare {
		t.Skip("goroutines tell this poller of bytes, and a virtual clock doesn't wait for them")
	}
	late.began, late.open, late.saw = make(chan struct{}), make(chan struct{}), make(chan string, 1)
	w := openWorld(t, lone, func(c *config) { c.InputMax = 1 }, virtual)
	part := big(50_000)
	first, next := w.dial(), w.marked()
	first.send("hold 1 " + part)
	w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
	w.pass(31 * time.Second) // nobody waits
	next.send(part)
	w.await("its start", func() bool { return w.peek().Input == 1<<10 })
	w.pass(31 * time.Second)
	next.expect(part)

	third := w.dial()
	third.send("mark", "keep "+part)
	<-late.began
	third.arrived()
	third.reset()
	next.send(part)
	next.expect(part)
	close(late.open)
	<-late.saw
	w.letGo(1)
	w.pass(time.Second)
	first.expect(part)
}

// Who isn't read waits for its turn, however long that takes: it is neither slow nor idle.
func TestWaitingForTheIntakeIsNotIdle(t *testing.T) {
	if !netio.CanShare {
		t.Skip("goroutines tell this poller of bytes, and a virtual clock doesn't wait for them")
	}
	w := openWorld(t, lone, func(c *config) { c.InputMax, c.IdleTimeout, c.RequestTimeout = 1, time.Minute, time.Hour }, virtual)
	part := big(50_000)
	late, next := w.dial(), w.marked()
	late.send("hold 1 " + part)
	w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
	next.part(part)
	w.await("its start", func() bool { return w.peek().Input > 0 })
	for range 20 {
		w.pass(10 * time.Second)
	}
	w.letGo(1)
	w.pass(time.Second)
	late.expect(part)
	w.await("its bytes", func() bool { return w.peek().Input >= len(part) })
	w.pass(29 * time.Second)
	next.send("")
	next.expect(part)
	require.Zero(t, w.server.Stats().RequestTimeouts)
	require.Zero(t, w.server.Stats().IdleTimeouts)
}

// Behind a long request its connection has no more than others of the next.
func TestBehindALongRequest(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		p.workers = 1
		const conns = 20
		w := openWorld(t, p, func(c *config) { c.InputMax = 1 }, virtual) // who leads may be slow
		watch := w.watchIntake()
		text := big(50_000)
		var all []*client
		for range conns {
			c := w.marked()
			c.part(text[:25_000])
			all = append(all, c)
			w.await("the first leads, the others wait", func() bool { return w.used() >= 25_000+(len(all)-1)<<10 })
		}
		for i := range all {
			// somebody will lead with that, and stay silent
			all[conns-1-i].part(text[25_000:] + "\n" + text)
		}
		for _, c := range all {
			c.expect(text)
		}
		w.await("a leader", func() bool { return w.used() > 50_000 })
		require.LessOrEqual(t, watch.most.Load(), int64(64<<10+conns<<10))
	})
}

// A drain answers what had arrived, each in its turn, and waits for nobody's rest.
func TestDrainOfAFullIntake(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		if !netio.CanShare {
			t.Skip("goroutines tell this poller of bytes, and a virtual clock doesn't wait for them")
		}
		w := openWorld(t, p, func(c *config) { c.InputMax = 1 }, virtual)
		part := big(50_000)
		var whole, starts []*client
		for range 10 {
			whole = append(whole, w.marked())
			starts = append(starts, w.marked())
		}
		whole[0].send("hold 1 " + part)
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		for i := range whole {
			starts[i].part(part)
			whole[i].send("b", part, "c")
		}
		drained := begin(func() error { return w.server.Drain(w.ctx) })
		w.await("the listeners closed", w.refuses)
		w.letGo(1)
		w.pass(10 * time.Millisecond)
		whole[0].expect(part)
		for _, c := range whole { // none of which waits until another connection is closed
			c.expect("b", part, "c")
		}
		for _, c := range append(whole, starts...) {
			c.expectEnd()
		}
		require.NoError(t, <-drained)
		require.Zero(t, w.used())
	})
}

// Who waits in the line, or leads, may be closed.
func TestCloseOfAFullIntake(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for i := range 4 {
			w := openWorld(t, p, func(c *config) { c.InputMax = 1 })
			part := big(50_000)
			n := 0
			w.await("a leader on each site", func() bool {
				if n >= 10 && w.keeper.holding.Load() == int64(p.workers) {
					return true
				}
				w.marked().send("hold 1 "+part, "mark")
				n++
				return false
			})
			switch i {
			case 0:
				require.NoError(t, w.server.Close(w.ctx))
			case 1:
				ctx, cancel := context.WithCancel(w.ctx)
				cancel()
				require.Error(t, w.server.Drain(ctx))
			case 2:
				for _, at := range w.fronts {
					require.NoError(t, at.StopWait(w.ctx))
				}
				w.await("all are closed", func() bool { return w.server.Stats().Conns == 0 })
				continue
			case 3:
				require.NoError(t, w.server.Close(w.ctx))
				w.letGo(1)
			}
			w.await("nothing is left", func() bool { return w.used() == 0 })
		}
	})
}

// Connections send what they like, in pieces of any size, and some end in the midst of it: all that
// stay are answered, and what there may be is kept.
func TestInputMaxAgainstManyClients(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		const clients, rounds, long = 24, 40, 20_000
		seed := uint64(time.Now().UnixNano())
		rng := rand.New(rand.NewPCG(seed, 0))
		most := p.workers << (10 + rng.IntN(7))
		w := openWorld(t, p, func(c *config) {
			c.InputMax, c.ReadSize = most, 64<<rng.IntN(9)
			c.RequestsMax, c.InflightMax = 2+rng.IntN(50), 1+rng.IntN(30)
			c.OutputMax = 1 << (10 + rng.IntN(8))
		}, virtual)
		w.letGo(1)
		for range 4 * p.workers { // on each site
			defer w.marked().Close()
		}
		watch := w.watchIntake()
		var group sync.WaitGroup
		for i := range clients {
			rng := rand.New(rand.NewPCG(seed, uint64(i+1)))
			group.Go(func() {
				for range rounds {
					if err := w.talk(rng, long); err != nil {
						t.Errorf("seed %d: %v", seed, err)
						return
					}
				}
			})
		}
		group.Wait()
		// a closed one may be there still beside the next
		require.LessOrEqual(t, watch.most.Load(), int64(most/p.workers+32<<10+(2*clients+8)<<10), "seed %d", seed)
		require.Zero(t, watch.lost.Load(), "seed %d", seed)
		w.await("nothing is left", func() bool { return w.used() == 0 })
	})
}

// talk is a connection that sends lines of up to long bytes in pieces, then reads all results, or
// ends before.
func (w *world) talk(rng *rand.Rand, long int) error {
	c := w.dial()
	defer c.Close()
	var text, want strings.Builder
	for range 1 + rng.IntN(10) {
		line := big(1 + rng.IntN(1+rng.IntN(long)))
		if rng.IntN(4) == 0 {
			text.WriteString("hold 1 ")
		}
		text.WriteString(line + "\n")
		want.WriteString(line + "\n")
	}
	ends := rng.IntN(5) == 0
	rest := text.String()
	if ends {
		rest = rest[:rng.IntN(len(rest))]
	}
	sent := begin(func() error {
		for len(rest) > 0 {
			n := min(len(rest), 1+rng.IntN(1+rng.IntN(30_000)))
			if _, err := io.WriteString(c, rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
	if ends {
		if err := <-sent; err != nil {
			return err
		}
		c.reset()
		return nil
	}
	got := make([]byte, want.Len())
	if _, err := io.ReadFull(c.r, got); err != nil {
		return err
	}
	if string(got) != want.String() {
		return fmt.Errorf("other results")
	}
	return <-sent
}

// gatedCodec knows its client once that has sent a line that begins with "enter".
type gatedCodec struct {
	lineCodec
	known bool
}

func (c *gatedCodec) Decode(in []byte, req *request) (int, error) {
	n, err := c.lineCodec.Decode(in, req)
	c.known = c.known || strings.HasPrefix(string(req.line), "enter")
	return n, err
}

func (c *gatedCodec) Stranger() bool { return !c.known }

// What strangers send is counted apart, and bounded: it keeps nobody waiting who is known.
func TestStrangersKeepNobodyWaiting(t *testing.T) {
	t.Run("Codec", func(t *testing.T) {
		strangersKeepNobodyWaiting(t, func(c *config) { c.Codec = func() channel.Codec[request, reply] { return &gatedCodec{} } })
	})
	t.Run("CodecFor", func(t *testing.T) {
		strangersKeepNobodyWaiting(t, func(c *config) {
			c.CodecFor = func(string) channel.Codec[request, reply] { return &gatedCodec{} }
			c.Stages = one(&scripted{
				open:    func(f *stage.Flow) error { f.HoldOpening(true); return nil },
				receive: func(f *stage.Flow, p []byte) error { f.HoldOpening(false); f.Up(p); return nil },
			})
		})
	})
}

func strangersKeepNobodyWaiting(t *testing.T, gate func(c *config)) {
	everywhere(t, func(t *testing.T, p place) {
		const strangers, most = 40, 512 << 10
		w := openWorld(t, p, func(c *config) {
			c.InputMax = most
			gate(c)
		}, virtual) // who leads may be slow
		watch := w.watchIntake()
		var all []*client
		for range strangers {
			c := w.marked()
			go io.WriteString(c, strings.Repeat("x", 100_000))
			all = append(all, c)
		}
		w.await("what there is for strangers to be used up", func() bool { return w.used() >= most/8/p.workers })
		long := strings.Repeat("y", 100_000)
		for range 10 {
			c := w.dial()
			c.send("enter", long, long)
			c.expect("enter", long, long)
		}
		require.LessOrEqual(t, w.used(), most/8/p.workers+100_000*5/4+strangers<<10, "of strangers")

		for _, c := range all[strangers/2:] {
			c.Close()
		}
		for _, c := range all[:strangers/2] { // these are let in behind what they are at
			go io.WriteString(c, "\nenter\n"+long+"\n")
		}
		for _, c := range all[:strangers/2] {
			c.expect(strings.Repeat("x", 100_000), "enter", long)
		}
		require.Zero(t, watch.lost.Load())
		w.await("nothing is left", func() bool { return w.used() == 0 })
	})
}

// A stranger whose turn it was is known behind the request that it had the turn for: the next one
// has it.
func TestStrangerEntersInItsTurn(t *testing.T) {
	const holders, most = 80, 128 << 10
	w := openWorld(t, lone, func(c *config) {
		c.InputMax, c.Codec = most, func() channel.Codec[request, reply] { return &gatedCodec{} }
	})
	for range holders {
		w.marked().part(strings.Repeat("x", 900))
	}
	w.await("what there is for strangers to be used up", func() bool { return w.used() >= most/8 })
	long := "enter" + strings.Repeat("y", 20_000)
	var all []*client
	for range 4 {
		c := w.dial()
		c.send(long)
		all = append(all, c)
	}
	for _, c := range all {
		c.expect(long)
	}
}
