package core

import (
	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack"
)

// A router is a port at which several actors stand: each message goes to one of
// them. It chooses on the asker's worker, and sends the message there directly, so
// the order of one sender's messages to one member holds. Callers can't tell it from
// the port of one actor.
//
// Each call of Local, RoundRobin, … makes a router. Make it once and keep the port.

// choice is how the routers of asks and of notices choose.
type choice struct {
	policy policy
	roster *roster
}

func byTurns(r *roster) choice {
	t := &turns{roster: r}
	t.counts.first = ownIndex
	return choice{policy: t, roster: r}
}

func ownIndex(worker uint64) uint64 { return worker }

func byChance(r *roster, seed uint64) choice {
	c := &chance{roster: r}
	c.states.first = func(worker uint64) uint64 { return mix(seed + (worker+1)*golden) }
	c.guests.Store(mix(seed))
	return choice{policy: c, roster: r}
}

func byQueue(r *roster) choice {
	q := &queues{turns{roster: r}}
	q.counts.first = ownIndex
	return choice{policy: q, roster: r}
}

func byKey(r *roster, noKey bool) choice {
	if noKey {
		panic("core: a router by key without a key")
	}
	return choice{policy: &keys{r}, roster: r}
}

func byWorker(set *replicas) choice {
	n := &nearest{set: set}
	n.guests.roster = &set.roster
	return choice{policy: n, roster: &set.roster}
}

// Local returns the port of the handler at the replica of the asker's own worker: another
// one, from then on, if the asker moves (see package house). Who needs the same always is
// spawned on a worker. If the replica has stopped, so says the answer. A guest asks all in turn.
func (h Handler[A, Req, Rep]) Local(r Replicas[A]) Port[Req, Rep] {
	return routed[Req, Rep](h.route, byWorker(r.here()), nil)
}

// RoundRobin returns a port that asks the members in turn. Each worker takes turns
// of its own, so that workers don't contend for a count; it begins elsewhere than
// the others.
func (h Handler[A, Req, Rep]) RoundRobin(m Members[A]) Port[Req, Rep] {
	return routed[Req, Rep](h.route, byTurns(rosterOf(m)), nil)
}

// Random returns a port that asks a member drawn by chance. The seed determines
// what each worker draws.
func (h Handler[A, Req, Rep]) Random(m Members[A], seed uint64) Port[Req, Rep] {
	return routed[Req, Rep](h.route, byChance(rosterOf(m), seed), nil)
}

// ByKey returns a port that asks the same member for the same key as long as the
// members are the same: those with names by these, whenever and in whatever order they were made;
// those without by the order in which they joined. One that joins takes only its share of the keys;
// those of one that leaves are shared out. The keys may be any numbers. The function key is
// called by the asker and must not keep the request.
func (h Handler[A, Req, Rep]) ByKey(m Members[A], key func(*Req) uint64) Port[Req, Rep] {
	return routed[Req, Rep](h.route, byKey(rosterOf(m), key == nil), key)
}

// LeastQueued returns a port that asks the member with the fewest messages in its mailbox,
// whoever sent them; among equals, in turn. Of a member on the asker's own worker that number is
// exact. Others show at the end of each visit what they have taken and what actors of their own
// worker have sent them; what goroutines send counts at once, and what actors elsewhere send when
// the visit in which they did ends.
func (h Handler[A, Req, Rep]) LeastQueued(m Members[A]) Port[Req, Rep] {
	return routed[Req, Rep](h.route, byQueue(rosterOf(m)), nil)
}

// router asks one of several.
type router[Req, Rep any] struct {
	choice
	by  *stack.Handler
	key func(*Req) uint64 // nil: none
}

func routed[Req, Rep any](by *route[Req], c choice, key func(*Req) uint64) Port[Req, Rep] {
	if by == nil {
		panic("core: a router of a zero Handler")
	}
	r := &router[Req, Rep]{choice: c, by: by.by, key: key}
	return Port[Req, Rep]{route: &route[Req]{by: by.by, via: r.ask, begin: r.begin, pass: r.pass}}
}

// ask is the way of a step.
//
//alloc:none
func (r *router[Req, Rep]) ask(s *stack.Stack, p *future.Promise, req Req, limit int64) {
	c, w := s.Bind(p, r.by, limit), s.Engine()
	m := stack.Request[Req, Rep](c)
	*m = req
	key := uint64(0)
	if r.key != nil {
		key = keyOf(r.key, m, w, c)
	}
	h := r.policy.pick(w, key)
	if h == nil {
		w.FailAsk(c, ErrNoMember)
		return
	}
	w.Push(h, c)
}

// pass is the way of a call that is forwarded. If key panics, so does the step.
//
//alloc:none
func (r *router[Req, Rep]) pass(s *stack.Stack, req Req) Yield {
	c, y := s.Forward(r.by)
	m := stack.Request[Req, Rep](c)
	*m = req
	key := uint64(0)
	if r.key != nil {
		key = r.key(m)
	}
	h := r.policy.pick(s.Engine(), key)
	if h == nil {
		return s.Dropped(ErrNoMember)
	}
	c.Aim(h)
	return y
}

// begin is the way of a guest.
func (r *router[Req, Rep]) begin(req Req) (*stack.Guests, *stack.Call, error) {
	g := r.guests()
	if g == nil {
		return nil, nil, ErrNoMember
	}
	c := g.Call(nil, r.by)
	var h *stack.House
	defer func() {
		if h == nil { // or key has panicked
			g.Done(c)
		}
	}()
	m := stack.Request[Req, Rep](c.Stack())
	*m = req
	key := uint64(0)
	if r.key != nil {
		key = r.key(m)
	}
	if h = r.policy.pick(nil, key); h == nil {
		return nil, nil, ErrNoMember
	}
	c.Stack().Aim(h)
	return g, c, nil
}

// guests returns what guests take stacks from; nil if nobody is there.
func (c *choice) guests() *stack.Guests {
	l := c.roster.list()
	if len(l.houses) == 0 {
		return nil
	}
	return l.houses[0].Owner().Guests
}

// keyOf returns the key of c's message m. If key panics it frees c.
func keyOf[M any](key func(*M) uint64, m *M, w *stack.Engine, c *stack.Stack) (k uint64) {
	done := false
	defer func() {
		switch {
		case done:
		case c.ID() != 0: // an ask
			w.FailAsk(c, ErrPanic)
		default:
			w.Discard(c)
		}
	}()
	k = key(m)
	done = true
	return k
}
