package cluster

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// choices are bytes that say what happens next.
type choices []byte

// next returns one of n choices, of 65,536 at most; the first once no bytes are left.
func (c *choices) next(n int) int {
	chosen := 0
	for bits := 1; bits < n && len(*c) > 0; bits <<= 8 {
		chosen = chosen<<8 | int((*c)[0])
		*c = (*c)[1:]
	}
	return chosen % n
}

// errs reports, seldom, that what can't be is to be chosen.
func (c *choices) errs() bool { return c.next(64) == 63 }

// number is mostly one of the lowest n, else any.
func (c *choices) number(n int) uint64 {
	if c.errs() {
		return math.MaxUint64 >> c.next(64)
	}
	return uint64(c.next(n))
}

// one is mostly one of some numbers, else any.
func (c *choices) one(of []uint64) uint64 {
	if len(of) == 0 || c.errs() {
		return c.number(8)
	}
	return of[c.next(len(of))]
}

// target is an actor that anybody may tell anything.
type target struct{ slow time.Duration }

func (g *target) tell(s *itemStep) core.Yield {
	s.Barrier()
	core.Timer.Ask(s, &s.tick, g.slow)
	return core.Suspend(s, (*target).rested)
}

func (g *target) rested(s *itemStep) core.Yield { return s.Return() }

func (g *target) add(s *addStep) core.Yield {
	if s.Req.N > 0 {
		return s.Return(addRep{})
	}
	core.Timer.Ask(s, &s.tick, time.Hour)
	return core.Suspend(s, (*target).late)
}

func (g *target) late(s *addStep) core.Yield { return s.Return(addRep{}) }

func (g *target) echo(s *blobStep) core.Yield { return s.Return(s.Req) }

var (
	_ = core.HandleNotice((*target).tell).As(tells)
	_ = core.Handle((*target).add).As(add)
	_ = core.Handle((*target).echo).As(echo)
)

// rogue is a node of the test's own, which says HELLO and then anything, in a simulation with a
// node that it speaks to, and an honest one that speaks to that, too.
type rogue struct {
	choices
	t     *testing.T
	sim   *housetest.Sim
	there *Node

	peer    *housetest.Peer
	session uint64
	greeted bool
	deaf    bool // it acknowledges nothing
	in      []byte
	read    uint64   // position
	named   int      // methods declared
	refs    []uint64 // declared
	unused  []uint64 // numbers for more
	known   []uint64 // actors of the rogue, by number
	slots   []uint64 // that are free
	asked   []uint64 // slots of asks that aren't answered
	askedBy []uint64 // their methods
	parts   uint64   // long frames begun
	long    []frame.Part
	whole   [][]byte // of long

	at      []core.Address[target]
	targets []uint64 // their serials
	far     []core.AnyAddress
	finds   []core.Pending[core.AnyAddress]
	asks    []core.Pending[addRep]
	echoes  []core.Pending[[]byte]

	keeper core.AnyAddress // at the honest node
	told   int
	added  []core.Pending[addRep]
}

func newRogue(t *testing.T, c choices) *rogue {
	conf := house.Config{AskTimeout: 2 * time.Second}
	sim := housetest.New(t, 1, conf)
	other := sim.Beside(t, conf)
	there, err := Start(t.Context(), other, Config{Name: "there", Listen: "127.0.0.1:7400", Plaintext: true, Incarnation: 1, Window: 256 << 10})
	require.NoError(t, err)
	here, err := Start(t.Context(), sim, Config{Name: "here", Peers: map[string]string{"there": there.Addr()}, Plaintext: true, Incarnation: 1})
	require.NoError(t, err)
	r := &rogue{choices: c, t: t, sim: sim, there: there}
	r.forgets(1)
	r.deaf = r.next(4) == 3
	_, err = core.SpawnWith(other, func() *ledger { return &ledger{} }, core.Props{Name: "keeper"})
	require.NoError(t, err)
	for _, name := range []string{"a", "b", "c"} {
		slow := time.Duration(r.next(50)) * time.Millisecond
		at, err := core.SpawnWith(other, func() *target { return &target{slow} }, core.Props{Name: name, Mailbox: core.Bounded(1+r.next(10), core.Reject)})
		require.NoError(t, err)
		r.at, r.targets = append(r.at, at), append(r.targets, at.House().Serial())
		_, err = housetest.Ask(t, sim, here.Finder(), Where{"there", "/user/" + name})
		require.NoError(t, err)
	}
	r.keeper, err = housetest.Ask(t, sim, here.Finder(), Where{"there", "/user/keeper"})
	require.NoError(t, err)
	r.dials()
	return r
}

// dials begins a connection: the rogue has lost all that was under way.
func (r *rogue) dials() {
	r.peer, r.in, r.greeted = r.sim.Net.Dial(r.there.Addr()), nil, false
	r.sim.Rest()
	h := frame.Hello{Name: []byte("rogue"), Incarnation: 1, Session: r.session, Tracks: 1, Position: r.read}
	switch r.next(100) {
	case 1:
		h.Session = max(1, r.number(4))
	case 2:
		h.Position = r.number(1000)
	case 3:
		h.Incarnation = r.number(4)
	}
	r.peer.Write(h.Append(nil))
	r.hears()
}

// hears reads what the node has sent.
func (r *rogue) hears() {
	r.sim.Rest()
	for b := r.peer.Read(1 << 20); len(b) > 0; b = r.peer.Read(1 << 20) {
		r.in = append(r.in, b...)
		r.sim.Rest()
	}
	if !r.greeted {
		h, n, err := frame.NextHello(r.in)
		require.NoError(r.t, err)
		if n == 0 {
			return
		}
		if r.in, r.greeted = r.in[n:], true; h.Session != r.session {
			r.forgets(h.Session)
		}
	}
	for {
		f, n, err := frame.Next(r.in)
		require.NoError(r.t, err, "the node says what can't be")
		if n == 0 {
			return
		}
		if !f.Outside() {
			r.read += uint64(n)
		}
		r.notes(f)
		r.in = r.in[n:]
	}
}

// notes notes what a frame says that is needed to say what may be.
func (r *rogue) notes(f frame.Raw) {
	var (
		ask   frame.Ask
		ref   frame.Ref
		gone  frame.Gone
		reply frame.Reply
		fail  frame.Fail
	)
	switch {
	case f.Kind == frame.KindAsk && ask.Read(f) == nil:
		r.asked, r.askedBy = append(r.asked, ask.Slot), append(r.askedBy, ask.Method)
	case f.Kind == frame.KindRef && ref.Read(f) == nil:
		r.known = append(r.known, ref.Number)
	case f.Kind == frame.KindGone && gone.Read(f) == nil:
		r.unused = append(r.unused, gone.To)
	case f.Kind == frame.KindReply && reply.Read(f) == nil:
		r.slots = append(r.slots, reply.Slot)
	case f.Kind == frame.KindFail && fail.Read(f) == nil:
		r.slots = append(r.slots, fail.Slot)
	}
}

// step is one thing of those that the rogue, the other nodes, and time do.
func (r *rogue) step() {
	if r.peer.Err() != nil || !r.greeted {
		r.peer.Close()
		if r.sim.Run(10 * time.Millisecond); r.next(4) == 3 {
			r.forgets(r.session + 1)
		}
		r.dials()
		return
	}
	switch n := r.next(32); {
	case n < 22:
		f := r.frame()
		if r.errs() {
			f[r.next(min(len(f), 256))] ^= 1 << r.next(8)
		}
		if !r.isOfKeeper(f) {
			r.peer.Write(f)
		}
	case n < 25:
		r.hears()
	case n < 26:
		r.honest()
	case n < 30:
		r.victim()
	case n < 31:
		r.sim.Run(time.Duration(r.next(1<<16)) << r.next(17))
	case r.next(4) == 3:
		r.peer.Reset()
	}
}

// victim has the node, and its guests, use what they know of actors at the rogue.
func (r *rogue) victim() {
	for i := 0; i < len(r.finds); i++ {
		if r.finds[i].Ready() {
			if far, err := r.finds[i].Get(); err == nil {
				r.far = append(r.far, far)
			}
			r.finds = append(r.finds[:i], r.finds[i+1:]...)
			i--
		}
	}
	if len(r.far) == 0 || r.next(8) == 7 {
		r.finds = append(r.finds, core.Begin(r.there.Finder(), Where{"rogue", "/user/any"}))
		return
	}
	far := r.far[r.next(len(r.far))]
	typed, ok := core.As[target](far)
	switch r.next(8) {
	case 0, 1:
		core.Notice(tells.At(far), padded(1, r.next(1<<16)))
	case 2, 3:
		r.asks = append(r.asks, core.Begin(add.At(far), addReq{1}))
	case 4:
		r.echoes = append(r.echoes, core.Begin(echo.At(far), make([]byte, 4*r.next(1<<16))))
	case 5, 6:
		if ok {
			[]func(){typed.Stop, typed.Drain, typed.Pause, typed.Continue}[r.next(4)]()
		}
	case 7:
		if ok {
			at := core.Spawn(r.there.system, func() *griever { return &griever{} })
			core.Notice(grieverWatch.At(at), typed)
		}
	}
}

// griever watches a target, and does nothing about it.
type griever struct{}

func (g *griever) watch(s *core.NoticeStack[core.Address[target]]) core.Yield {
	core.Watch(s, s.Msg, grieverHears)
	return s.Return()
}

func (g *griever) hears(s *core.NoticeStack[core.Terminated]) core.Yield { return s.Return() }

var (
	grieverWatch = core.HandleNotice((*griever).watch)
	grieverHears = core.HandleNotice((*griever).hears)
)

// honest has the honest node tell and ask its keeper.
func (r *rogue) honest() {
	require.NoError(r.t, core.Notice(tells.At(r.keeper), item{N: r.told}))
	r.told++
	r.added = append(r.added, core.Begin(add.At(r.keeper), addReq{r.told}))
}

// served requires that the honest node was served, whatever the rogue has done.
func (r *rogue) served() {
	for i := range r.added {
		require.True(r.t, r.added[i].Ready())
		rep, err := r.added[i].Get()
		require.NoError(r.t, err)
		require.Equal(r.t, 2*(i+1), rep.Sum)
	}
	rep, err := housetest.Ask(r.t, r.sim, count.At(r.keeper), struct{}{})
	require.NoError(r.t, err)
	require.Equal(r.t, r.told, rep.Sum)
}

// ends ends the walk: once the rogue is away for longer than patience nothing of it is left.
func (r *rogue) ends() {
	r.honest()
	r.sim.Run(100 * time.Millisecond)
	r.served()
	r.peer.Close()
	for _, at := range r.at {
		at.Continue() // what was given up waits in the mailbox of one that is paused
	}
	r.sim.Run(2 * time.Minute)
	requireOver(r.t, r.finds)
	requireOver(r.t, r.asks)
	requireOver(r.t, r.echoes)
	h := r.there.self
	require.Empty(r.t, h.watched)
	require.LessOrEqual(r.t, len(h.links), 2)
	h.served.requireFree(r.t)
	if l := h.links["rogue"]; l != nil {
		require.Empty(r.t, l.conns)
		require.False(r.t, l.tracks[0].wanted)
	}
	require.Zero(r.t, r.there.system.(*house.System).Stats().Failures, "a panic")
}

// requireOver requires that asks have ended.
func requireOver[Rep any](t *testing.T, all []core.Pending[Rep]) {
	for _, p := range all {
		require.True(t, p.Ready())
		p.Get()
	}
}
