package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// The bytes of a load all have one value, which no other load in flight has: so whoever reads
// others sees it. The stacks of mules pass loads on, whole or in part, theirs or from answers, and
// give up what they ask, as often as not, long before that is answered.
type (
	load struct {
		b     []byte
		v     byte // of each of b
		depth int  // how often it may be passed on
	}
	sack struct {
		b []byte
		v byte
	}

	mule struct{ m *caravan }

	muleStack struct {
		core.AskStack[load, sack]
		f    [4]core.Future[sack]
		jobs [2]core.Future[sack]
		all  core.Future[core.Answers[sack]]
		tick core.Future[core.Tick]
		left int // steps
	}
	muleBatch struct {
		core.BatchAskStack[load, sack]
		f [2]core.Future[sack]
	}
	muleRoot struct {
		core.NoticeStack[int]
		f    [3]core.Future[sack]
		tick core.Future[core.Tick]
		left int
	}

	// caravan is what the mules of a simulation share.
	caravan struct {
		r     *rand.Rand
		ports []core.Port[load, sack]
		cast  core.Port[load, core.Answers[sack]]
		value byte
		reads int
		wrong error
	}
)

// newLoad is what b holds now.
func newLoad(b []byte, depth int) load { return load{b, b[0], depth} }

// check notes bytes that aren't as they were written.
func (c *caravan) check(l load, where string) {
	c.reads++
	for _, v := range l.b {
		if v != l.v && c.wrong == nil {
			c.wrong = fmt.Errorf("%s reads %x, not %x", where, l.b, l.v)
		}
	}
}

// carries is a stack that can take bytes.
type carries interface{ Bytes(n int) []byte }

// pack returns bytes of s's own.
func (c *caravan) pack(s carries) []byte {
	c.value = c.value%200 + 1
	b := s.Bytes(1 + c.r.IntN(60))
	for i := range b {
		b[i] = c.value
	}
	return b
}

// part returns some of b, or all.
func (c *caravan) part(b []byte) []byte {
	if len(b) > 1 && c.r.IntN(2) == 0 {
		return b[c.r.IntN(len(b)-1):]
	}
	return b
}

func packed(b []byte) sack { return sack{b, b[0]} }

func (p sack) load() load { return load{p.b, p.v, 0} }

func (c *caravan) port() core.Port[load, sack] { return c.ports[c.r.IntN(len(c.ports))] }

func (c *caravan) time() time.Duration { return time.Duration(1+c.r.IntN(20)) * time.Millisecond }

func (a *mule) carry(s *muleStack) core.Yield {
	a.m.check(s.Req, "a request")
	s.left = 1 + a.m.r.IntN(3)
	return a.step(s)
}

// source returns bytes that s may pass on.
func (a *mule) source(s *muleStack) []byte {
	c := a.m
	switch i := c.r.IntN(8); {
	case i < 3 && len(s.Req.b) > 0:
		return c.part(s.Req.b)
	case i < 5 && s.f[i-3].Ready():
		if p, err := s.f[i-3].Get(); err == nil && len(p.b) > 0 {
			return c.part(p.b)
		}
	}
	return c.pack(s)
}

// step asks some, then waits or ends.
func (a *mule) step(s *muleStack) core.Yield {
	c := a.m
	if s.left--; s.left < 0 || s.Req.depth == 0 && c.r.IntN(2) == 0 {
		return a.end(s)
	}
	asked, calm := false, !s.all.Waiting() && !s.jobs[0].Waiting() && !s.jobs[1].Waiting()
	for i := range s.f {
		calm = calm && !s.f[i].Waiting()
	}
	for i := range s.f {
		// Answers that are passed on live until their futures are asked again.
		free := !s.f[i].Waiting() && (i > 1 || !s.f[i].Ready() || calm && !asked)
		if s.Req.depth > 0 && free && c.r.IntN(3) == 0 {
			l := newLoad(a.source(s), s.Req.depth-1)
			if i < 2 && s.f[i].Ready() { // not with what ends now
				l = newLoad(c.pack(s), s.Req.depth-1)
				if s.f[1-i].Ready() {
					if p, err := s.f[1-i].Get(); err == nil && len(p.b) > 0 {
						l = newLoad(c.part(p.b), s.Req.depth-1)
					}
				}
			}
			if c.r.IntN(2) == 0 {
				c.port().AskWithin(s, &s.f[i], l, c.time())
			} else {
				c.port().Ask(s, &s.f[i], l)
			}
			asked = true
		}
	}
	for i := range s.jobs {
		if !s.jobs[i].Waiting() && c.r.IntN(6) == 0 {
			in := a.source(s)
			core.Offload(s, &s.jobs[i], jobLoad{newLoad(in, 0), c}, haul)
			asked = true
		}
	}
	if s.Req.depth > 0 && !s.all.Waiting() && c.r.IntN(6) == 0 {
		c.cast.AskWithin(s, &s.all, newLoad(a.source(s), s.Req.depth-1), c.time())
		asked = true
	}
	if !s.tick.Waiting() && (!asked || c.r.IntN(2) == 0) {
		core.Timer.Ask(s, &s.tick, c.time())
	}
	if c.r.IntN(3) == 0 {
		return core.Suspend(s, (*mule).goOn)
	}
	return core.SuspendAny(s, (*mule).goOn)
}

func (a *mule) goOn(s *muleStack) core.Yield {
	c := a.m
	c.check(s.Req, "a request, later,")
	for i := range s.f {
		if s.f[i].Ready() {
			if p, err := s.f[i].Get(); err == nil {
				c.check(p.load(), "an answer")
			}
		}
	}
	if s.all.Ready() {
		if all, err := s.all.Get(); err == nil {
			for p, err := range all.All() {
				if err == nil {
					c.check(p.load(), "an answer to all")
				}
			}
		}
	}
	return a.step(s)
}

func (a *mule) end(s *muleStack) core.Yield {
	c := a.m
	switch {
	case s.Req.depth > 0 && c.r.IntN(4) == 0:
		b := c.pack(s) // an answer's would have to be copied
		if c.r.IntN(2) == 0 {
			b = c.part(s.Req.b)
		}
		return c.ports[0].Forward(s, newLoad(b, s.Req.depth-1)) // one actor's
	case c.r.IntN(5) == 0:
		return s.Throw(errors.New("lame"))
	}
	return s.Return(packed(c.pack(s)))
}

// all is a batch, which passes on what its members brought.
func (a *mule) all(s *muleBatch) core.Yield {
	c := a.m
	i := 0
	for _, l := range s.All() {
		c.check(*l, "a request in a batch")
		if i < len(s.f) && l.depth > 0 && len(l.b) > 0 {
			c.port().AskWithin(s, &s.f[i], newLoad(c.part(l.b), l.depth-1), c.time())
			i++
		}
	}
	if i == 0 || c.r.IntN(3) == 0 {
		return s.ReturnAll(sack{})
	}
	return core.SuspendAny(s, (*mule).batchDone)
}

func (a *mule) batchDone(s *muleBatch) core.Yield {
	for _, l := range s.All() {
		a.m.check(*l, "a request in a batch, later,")
	}
	return s.ReturnAll(sack{})
}

type jobLoad struct {
	load
	m *caravan
}

// haul reads when its time has come, at one moment.
func haul(_ context.Context, l jobLoad) (sack, error) {
	l.m.check(l.load, "a function")
	return sack{}, nil
}

// root has loads of its own under way, and begins again.
func (a *mule) root(s *muleRoot) core.Yield {
	s.left = s.Msg
	return a.send(s)
}

func (a *mule) send(s *muleRoot) core.Yield {
	if s.left--; s.left < 0 {
		return s.Return()
	}
	for i := range s.f {
		if !s.f[i].Waiting() {
			a.m.port().AskWithin(s, &s.f[i], newLoad(a.m.pack(s), 3), a.m.time())
		}
	}
	if !s.tick.Waiting() {
		core.Timer.Ask(s, &s.tick, a.m.time())
	}
	return core.SuspendAny(s, (*mule).send)
}

var (
	muleCarry = core.Handle((*mule).carry)
	muleAll   = core.HandleBatch((*mule).all, 0)
	muleSend  = core.HandleNotice((*mule).root)
)

// TestG5RequestsStayAsTheyWere: whoever reads a request reads what was written, however long ago
// its asker, and that one's asker, gave up or ended; and all is free in the end, as the end of each
// simulation looks.
func TestG5RequestsStayAsTheyWere(t *testing.T) {
	seeds, reads := uint64(150), 0
	if housetest.Slow {
		seeds = 40
	}
	for seed := range seeds {
		sim := housetest.New(t, seed, house.Config{Workers: 3, Logger: quiet})
		c := &caravan{r: rand.New(rand.NewPCG(seed, 1))}
		born := func() *mule { return &mule{c} }
		var group core.Group[mule]
		for range 4 {
			m := core.Spawn(sim, born)
			group.Join(m)
			c.ports = append(c.ports, muleCarry.At(m), muleAll.At(core.Spawn(sim, born)))
		}
		named := core.NewNamed(sim, core.NamedConfig[mule]{Kind: "mule", New: func(string) *mule { return born() }})
		c.ports = append(c.ports, core.First(muleCarry, &group), muleCarry.RoundRobin(&group),
			core.ByName(muleCarry, named, func(l *load) string { return fmt.Sprint(len(l.b) % 3) }))
		c.cast = core.Broadcast(muleCarry, &group)
		for range 3 {
			core.Notice(muleSend.At(core.Spawn(sim, born)), 30)
		}
		sim.Run(time.Minute)
		require.NoError(t, c.wrong, "seed %d", seed)
		reads += c.reads
	}
	require.Greater(t, reads, 1000*int(seeds))
}

type (
	// forgetful asks with bytes of its own, and ends before that is answered.
	forgetful      struct{ slow core.Port[[]byte, int] }
	forgetfulStack struct {
		core.AskStack[string, int]
		f    core.Future[int]
		tick core.Future[core.Tick]
	}
	// slow has a function read them.
	slow      struct{ read []string }
	slowStack struct {
		core.AskStack[[]byte, int]
		f core.Future[int]
	}
	slowRead struct {
		b  []byte
		by *slow
	}
)

func (a *forgetful) ask(s *forgetfulStack) core.Yield {
	a.slow.Ask(s, &s.f, s.Copy([]byte(s.Req)))
	core.Timer.Ask(s, &s.tick, time.Second)
	return core.SuspendAny(s, (*forgetful).waited)
}

func (a *forgetful) waited(s *forgetfulStack) core.Yield { return s.Return(0) }

func (a *slow) ask(s *slowStack) core.Yield {
	core.Offload(s, &s.f, slowRead{s.Req, a}, func(_ context.Context, in slowRead) (int, error) {
		in.by.read = append(in.by.read, string(in.b))
		return 1, nil
	})
	return core.Suspend(s, (*slow).waited)
}

func (a *slow) waited(s *slowStack) core.Yield { return s.Return(1) }

var (
	forgetfulAsk = core.Handle((*forgetful).ask)
	slowAsk      = core.Handle((*slow).ask)
)

// The function at which the first one's bytes arrived still reads them when the second one has
// ended too.
func TestRequestOutlivesItsAsker(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 2, Logger: quiet, OffloadMax: 2,
		OffloadTime: func() time.Duration { return 10 * time.Second }})
	reader := &slow{}
	to := slowAsk.At(core.Spawn(sim.Workers()[1], func() *slow { return reader }))
	ask := forgetfulAsk.At(core.Spawn(sim.Workers()[0], func() *forgetful { return &forgetful{to} }))
	want := []string{"a word of the first", "another's secret   "}
	for _, word := range want {
		_, err := housetest.Ask(t, sim, ask, word)
		require.NoError(t, err)
	}
	sim.Run(time.Minute)
	require.Equal(t, want, reader.read)
}

type (
	// author hands bytes on that it got, and asks for others when that is answered.
	author struct {
		source core.Port[string, []byte]
		to     core.Port[[]byte, int]
	}
	authorStack struct {
		core.AskStack[int, int] // how often
		word                    core.Future[[]byte]
		f                       core.Future[int]
		tick                    core.Future[core.Tick]
	}
	source      struct{}
	sourceStack struct{ core.AskStack[string, []byte] }
	// rash has a function read its request, and answers before it has.
	rash      struct{ by *slow }
	rashStack struct {
		core.AskStack[[]byte, int]
		f    core.Future[int]
		tick core.Future[core.Tick]
	}
)

func (*source) ask(s *sourceStack) core.Yield { return s.Return(s.Copy([]byte(s.Req))) }

func (a *author) ask(s *authorStack) core.Yield {
	a.source.Ask(s, &s.word, fmt.Sprint("word ", s.Req))
	return core.Suspend(s, (*author).pass)
}

func (a *author) pass(s *authorStack) core.Yield {
	if s.Req--; s.Req < 0 {
		core.Timer.Ask(s, &s.tick, time.Minute)
		return core.Suspend(s, (*author).end)
	}
	b, _ := s.word.Get()
	a.to.Ask(s, &s.f, b)
	return core.Suspend(s, (*author).ask)
}

func (a *author) end(s *authorStack) core.Yield { return s.Return(1) }

func (a *rash) ask(s *rashStack) core.Yield {
	core.Offload(s, &s.f, slowRead{s.Req, a.by}, func(_ context.Context, in slowRead) (int, error) {
		in.by.read = append(in.by.read, string(in.b))
		return 1, nil
	})
	core.Timer.Ask(s, &s.tick, time.Second)
	return core.SuspendAny(s, (*rash).done)
}

func (a *rash) done(s *rashStack) core.Yield { return s.Return(1) }

var (
	sourceAsk = core.Handle((*source).ask)
	authorAsk = core.Handle((*author).ask)
	rashAsk   = core.Handle((*rash).ask)
)

// TestAnswerOutlivesItsFuture: an answer whose bytes were handed on, and are still read, stays when
// its future is asked again. However often that is done, what is held is bounded by what is read.
func TestAnswerOutlivesItsFuture(t *testing.T) {
	const often = 300
	sim := housetest.New(t, 1, house.Config{Workers: 2, Logger: quiet, OffloadMax: 1000, AskTimeout: time.Hour,
		OffloadTime: func() time.Duration { return 10 * time.Second }})
	reader := &slow{}
	to := rashAsk.At(core.Spawn(sim, func() *rash { return &rash{reader} }))
	from := sourceAsk.At(core.Spawn(sim, func() *source { return &source{} }))
	p := core.Begin(authorAsk.At(core.Spawn(sim, func() *author { return &author{from, to} })), often)
	sim.Run(2 * time.Minute)
	most := sim.Outstanding()
	for !p.Ready() {
		sim.Run(10 * time.Second)
		require.LessOrEqual(t, sim.Outstanding(), most+20)
	}
	p.Get()
	var want []string
	for n := often; n > 0; n-- {
		want = append(want, fmt.Sprint("word ", n))
	}
	require.Equal(t, want, reader.read)
}
