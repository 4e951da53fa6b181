package core

import "github.com/stackhouse-go/stackhouse/stack"

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
	return Port[Req, Rep]{route: routed(h.route, byWorker(r.here()), nil)}
}

// RoundRobin returns a port that asks the members in turn. Each worker takes turns
// of its own, so that workers don't contend for a count; it begins elsewhere than
// the others.
func (h Handler[A, Req, Rep]) RoundRobin(m Members[A]) Port[Req, Rep] {
	return Port[Req, Rep]{route: routed(h.route, byTurns(rosterOf(m)), nil)}
}

// Random returns a port that asks a member drawn by chance. The seed determines
// what each worker draws.
func (h Handler[A, Req, Rep]) Random(m Members[A], seed uint64) Port[Req, Rep] {
	return Port[Req, Rep]{route: routed(h.route, byChance(rosterOf(m), seed), nil)}
}

// ByKey returns a port that asks the same member for the same key as long as the
// members are the same: those with names by these, whenever and in whatever order they were made;
// those without by the order in which they joined. One that joins takes only its share of the keys;
// those of one that leaves are shared out. The keys may be any numbers. The function key is
// called by the asker and must not keep the request.
func (h Handler[A, Req, Rep]) ByKey(m Members[A], key func(*Req) uint64) Port[Req, Rep] {
	c := byKey(rosterOf(m), key == nil)
	return Port[Req, Rep]{route: routed(h.route, c, func(c *stack.Stack) uint64 { return key(stack.Request[Req, Rep](c)) })}
}

// LeastQueued returns a port that asks the member with the fewest messages in its mailbox,
// whoever sent them; among equals, in turn. Of a member on the asker's own worker that number is
// exact. Others show at the end of each visit what they have taken and what actors of their own
// worker have sent them; what goroutines send counts at once, and what actors elsewhere send when
// the visit in which they did ends.
func (h Handler[A, Req, Rep]) LeastQueued(m Members[A]) Port[Req, Rep] {
	return Port[Req, Rep]{route: routed(h.route, byQueue(rosterOf(m)), nil)}
}

// chooser sends each message to one of several.
type chooser struct {
	choice
	key func(c *stack.Stack) uint64 // nil: none
}

func routed(by *route, c choice, key func(*stack.Stack) uint64) *route {
	if by == nil {
		panic("core: a router of a zero Handler")
	}
	return &route{by: by.by, among: &askChooser{chooser{c, key}}}
}

// pick returns who gets c; nil: nobody is there.
//
//alloc:none
func (r *chooser) pick(w *stack.Engine, c *stack.Stack) *stack.House {
	key := uint64(0)
	if r.key != nil {
		key = r.key(c)
	}
	return r.policy.pick(w, key)
}

// guests returns what guests take stacks from; nil if nobody is there.
func (c *choice) guests() *stack.Guests {
	l := c.roster.list()
	if len(l.houses) == 0 {
		return nil
	}
	return l.houses[0].Owner().Guests
}

// askChooser is the router of asks.
type askChooser struct{ chooser }

//alloc:none
func (r *askChooser) aim(w *stack.Engine, c *stack.Stack, _ []*stack.House) (*stack.House, error) {
	if h := r.pick(w, c); h != nil {
		return h, nil
	}
	return nil, ErrNoMember
}
