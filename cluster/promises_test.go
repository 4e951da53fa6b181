package cluster

import (
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/lost"
	"github.com/stackhouse-go/stackhouse/stack/tracing"
)

// This file is about what is said of nodes in docs and of each field of a Config.

// TestG25Numbers: what nodes of all versions call errors, commands and methods of hubs never
// changes.
func TestG25Numbers(t *testing.T) {
	for i, err := range []error{core.ErrStopped, core.ErrRestarted, core.ErrTimeout, core.ErrCancelled, core.ErrPanic,
		core.ErrOverloaded, core.ErrMailboxFull, core.ErrNoHandler, core.ErrNotFound, core.ErrNotSent,
		core.ErrLost, core.ErrUnanswered, core.ErrNoMember, core.ErrBreakerOpen, core.ErrAlreadyExists} {
		require.EqualValues(t, i+1, failOf(err).Code, "%v", err)
	}
	for i, verb := range []command.Verb{command.Stop, command.Drain, command.Pause, command.Continue, command.Restart} {
		require.EqualValues(t, i+1, codes[verb], "%v", verb)
	}
	c, err := newCatalogue()
	require.NoError(t, err)
	for _, name := range []string{"find", "spawn", "keyed"} {
		require.Contains(t, c.byName, "stackhouse.cluster."+name)
	}
}

// TestDefaults are those that are documented, of what a Config leaves out and of bounds.
func TestDefaults(t *testing.T) {
	before := uint64(time.Now().UnixNano())
	c, err := Config{Name: "here", Plaintext: true}.validate()
	require.NoError(t, err)
	require.True(t, before <= c.Incarnation && c.Incarnation <= uint64(time.Now().UnixNano()), "%d", c.Incarnation)
	require.Equal(t, 1<<20, c.Window)
	require.Equal(t, 1, c.Tracks)
	require.Equal(t, 10_000, c.SpawnedMax)
	require.Equal(t, 5, tracksMax)
	require.Equal(t, 4096, linksMax)
	require.Equal(t, 1<<16, slotsMax)
	require.Equal(t, 16, partsMax)
	require.Equal(t, int64(time.Second), flushTime)
	require.Equal(t, 10*time.Minute, time.Duration(replyTime))
	require.Equal(t, 65_536, newReplies().keysMax)
	require.Equal(t, 8192, keysMax/runningPart)
	require.Equal(t, 64<<20, replyBytesMax)
}

// TestBudget: Config.Budget is how much memory a message may ask for at the node whose it is.
func TestBudget(t *testing.T) {
	for _, test := range []struct {
		budget wire.Budget
		fits   bool
	}{{wire.Budget{}, true}, {wire.Budget{Factor: 1, Least: 1}, false}, {wire.Budget{Factor: 1, Least: 1 << 20}, true}} {
		c := house.Config{Logger: slog.New(slog.DiscardHandler)}
		sim := housetest.New(t, 1, c)
		other := sim.Beside(t, c)
		there, err := Start(t.Context(), other, Config{Name: "there", Listen: "127.0.0.1:7400", Plaintext: true, Incarnation: 1, Budget: test.budget})
		require.NoError(t, err)
		here, err := Start(t.Context(), sim, Config{Name: "here", Peers: map[string]string{"there": there.Addr()}, Plaintext: true, Incarnation: 1})
		require.NoError(t, err)
		_, err = core.SpawnWith(other, func() *host { return &host{} }, core.Props{Name: "host"})
		require.NoError(t, err)
		far, err := housetest.Ask(t, sim, here.Finder(), Where{"there", "/user/host"})
		if !test.fits && err != nil {
			require.ErrorContains(t, err, wire.ErrBudget.Error())
			continue
		}
		require.NoError(t, err)
		_, err = housetest.Ask(t, sim, keep.At(far), contacts{All: make([]core.AnyAddress, 100)})
		if test.fits {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, wire.ErrBudget.Error())
		}
	}
}

// TestMailboxOfStandIns: Config.Mailbox is how many calls wait for each actor of another node.
func TestMailboxOfStandIns(t *testing.T) {
	c := newCalm(t)
	c.here.config.Mailbox = 3
	all := []core.AnyAddress{c.find(c.here, "there"), c.second()}
	for _, r := range c.track().standIns[1:] {
		c.tell(r.any(), 0, 1)
		require.NoError(t, c.track().hold(r.number, true))
	}
	for _, far := range all {
		for i := range 10 {
			err := core.Notice(tells.At(far), item{N: i})
			if i < 3 {
				require.NoError(t, err)
			} else {
				require.Equal(t, core.ErrMailboxFull, err)
			}
		}
	}
	for _, r := range c.track().standIns[1:] {
		require.NoError(t, c.track().hold(r.number, false))
	}
	c.sim.Run(time.Second)
	for _, far := range all {
		rep, err := housetest.Ask(t, c.sim, count.At(far), struct{}{})
		require.NoError(t, err)
		require.Equal(t, 1+3, rep.Sum)
	}
}

// TestSpawnedMaxOfEach: Config.SpawnedMax is of each other node, in all of its lives, also if it
// was forgotten in between.
func TestSpawnedMaxOfEach(t *testing.T) {
	conf := house.Config{Logger: slog.New(slog.DiscardHandler)}
	sim := housetest.New(t, 1, conf)
	kinds := []string{"test.counter"}
	there, err := Start(t.Context(), sim.Beside(t, conf), Config{Name: "there", Listen: "127.0.0.1:7400", Plaintext: true, Incarnation: 1,
		Spawners: map[string][]string{"here": kinds, "other": kinds}, SpawnedMax: 2})
	require.NoError(t, err)
	begin := func(name string, life uint64) *Node {
		n, err := Start(t.Context(), sim.Beside(t, conf), Config{Name: name, Peers: map[string]string{"there": there.Addr()}, Plaintext: true, Incarnation: life})
		require.NoError(t, err)
		return n
	}
	spawn := func(by *Node) error {
		_, err := housetest.Ask(t, sim, by.Spawner(), Whom{Node: "there", Kind: "test.counter"})
		return err
	}
	for _, name := range []string{"here", "other"} {
		by := begin(name, 1)
		for range 2 {
			require.NoError(t, spawn(by))
		}
		require.Equal(t, core.ErrOverloaded, spawn(by))
		for life := uint64(2); life < 4; life++ {
			require.NoError(t, by.Close(t.Context()))
			sim.Run(time.Second)
			if life == 3 {
				require.True(t, there.self.forget())
				require.Nil(t, there.self.links[name])
			}
			by = begin(name, life)
			require.Equal(t, core.ErrOverloaded, spawn(by), "%s, life %d", name, life)
		}
	}
}

// TestAddressInUse: a node that can't listen doesn't begin, and nothing is left of it.
func TestAddressInUse(t *testing.T) {
	c := newCalm(t)
	actors := c.sim.System.Actors()
	n, err := Start(t.Context(), c.sim, Config{Name: "third", Listen: c.there.Addr(), Plaintext: true})
	require.Error(t, err)
	require.Nil(t, n)
	c.sim.Run(time.Second)
	require.Equal(t, actors, c.sim.System.Actors())
	c.find(c.here, "there")
}

// TestContextsTakeRoom: what an ask brings along counts while it waits beside a full mailbox, as
// its message does; and no more once it was given up, and there is room.
func TestContextsTakeRoom(t *testing.T) {
	c := newCalm(t)
	at, told := c.floods("full", &counter{}, 1)
	at.Pause()
	c.sim.Run(time.Millisecond)
	told(1, 2)
	l := c.there.self.links["here"]
	k, m := l.tracks[0], c.track().methods.byName["test.counter.add"]
	require.Zero(t, l.waiting)
	with := tracing.Text(nil).AppendPair(nil, "tenant", strings.Repeat("t", core.PairsMax-len("tenant")-3))
	text := wire.Append(m.request, nil, &addReq{1})
	for n := range uint64(5) {
		require.NoError(t, k.serve(&frame.Ask{Slot: n, To: uint64(len(k.refs) - 1), Method: m.number, Context: with, Message: text}))
		require.Equal(t, int(n+1)*(callSize+len(with)+len(text)), l.waiting)
	}
	c.cut()
	c.tell(c.track().standIns[1].any(), 2, 3) // so that it is missed
	c.sim.Run(time.Minute)
	at.Continue()
	c.sim.Run(time.Second)
	require.Zero(t, l.waiting)
}

// reasons returns why notices of a system are dead letters, and how many.
func reasons(of System) map[lost.Reason]int {
	all := map[lost.Reason]int{}
	for _, l := range of.(interface{ DeadLetters() []house.LetterCount }).DeadLetters() {
		all[l.Reason] += int(l.Count)
	}
	return all
}

// TestReasonsOfLetters: what may not wait beside a full mailbox is a dead letter as one that such a
// mailbox refuses, and so is what waits there as its node ends, and what is lost with a session, as
// one to an actor that has stopped.
func TestReasonsOfLetters(t *testing.T) {
	c := newCalm(t)
	at, told := c.floods("full", &counter{}, 4)
	at.Pause()
	c.sim.Run(time.Millisecond)
	told(1, 1+4)
	h := c.there.self
	window := h.node.config.Window
	h.node.config.Window = 1 // of nothing
	told(5, 8)
	require.Equal(t, map[lost.Reason]int{lost.Full: 3}, reasons(c.there.system))
	h.node.config.Window = window
	told(8, 10)
	c.sim.Run(5 * time.Second)
	far := c.find(c.here, "there")
	c.cut()
	c.tell(far, 0, 6)
	c.there.hub.Stop()
	c.sim.Run(time.Minute)
	require.Equal(t, map[lost.Reason]int{lost.Full: 3, lost.Stopped: 2}, reasons(c.there.system))
	require.Equal(t, map[lost.Reason]int{lost.Stopped: 6}, reasons(c.here.system))
}

// TestNobodyWaitsByAnyTrack: a node isn't forgotten as long as something waits for it, by whichever
// track, and may be once its session is over.
func TestNobodyWaitsByAnyTrack(t *testing.T) {
	for i := range 2 {
		c := newCalmOf(t, 3, 3)
		c.find(c.here, "there") // or nobody there could dial
		_, err := core.SpawnWith(c.here.system, func() *counter { return &counter{} }, core.Props{Name: "second"})
		require.NoError(t, err)
		all := []core.AnyAddress{c.find(c.there, "here")}
		second, err := housetest.Ask(t, c.sim, c.there.Finder(), Where{"here", "/user/second"})
		require.NoError(t, err)
		all = append(all, second)
		c.sim.Run(5 * time.Second)
		c.cut()
		l := c.there.self.links["here"]
		require.Empty(t, l.conns)
		c.tell(all[i], 0, 1)
		for n, k := range l.tracks {
			require.Equal(t, n == 1+i, k.wanted, "track %d", n)
		}
		require.False(t, c.there.self.forget())
		c.sim.Run(time.Minute)
		require.True(t, c.there.self.forget())
	}
}

// TestMailboxOfRetriers: Config.Mailbox is how many calls wait for a port of AtLeastOnce, too, by
// which as many are away as may be.
func TestMailboxOfRetriers(t *testing.T) {
	w := newShop(t, core.Props{})
	w.here.config.Mailbox = 3
	w.port = AtLeastOnce(w.here, pays, Where{"there", "/user/till"})
	as := reflect.TypeOf(core.ReferenceTo(reflect.TypeOf(w.port)))
	to, _, _ := reflect.ValueOf(&w.port).Convert(as).Interface().(core.Reference).Referent()
	r := to.Remote().(*retrier)
	r.busy = retriesMax
	var asks []core.Pending[receipt]
	for n := range 10 {
		asks = append(asks, core.Begin(w.port, payment{N: n}))
		w.sim.Run(time.Millisecond)
	}
	r.busy, r.full = 0, false
	w.here.self.w.Readmit(r.house)
	w.sim.Run(time.Second)
	for n, p := range asks {
		if _, err := p.Get(); n < 3 {
			require.NoError(t, err)
		} else {
			require.Equal(t, core.ErrMailboxFull, err)
		}
	}
	require.Equal(t, map[int]int{0: 1, 1: 1, 2: 1}, w.till.paid)
	w.requireIdle(t)
}
