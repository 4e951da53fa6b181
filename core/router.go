package core

import "github.com/stackhouse-go/stackhouse/stack"

// A router is a port at which several actors stand: each message goes to one of them. The choice is
// made on the asker's worker, which sends the message there directly: so the order of one sender's
// messages to one member holds. Callers can't tell a router from the port of one actor.
//
// Each call of Local, RoundRobin and so on makes a new router. Make it once and keep the port.

// choice is what the routers of asks and of notices have in common: how they choose a member.
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

// Local returns a port that asks the replica of the asker's own worker. If the asker moves (see
// package house) it asks that of its new worker from then on; to stay with one replica, spawn the
// asker on a worker. If the replica has stopped, the answer is ErrStopped. A guest asks the
// replicas in turn.
func (h Handler[A, Req, Rep]) Local(r Replicas[A]) Port[Req, Rep] {
	return Port[Req, Rep]{route: routed(h.route, byWorker(r.here()), nil)}
}

// RoundRobin returns a port that asks the members in turn. Each worker counts for itself, so that
// workers don't contend, and begins at its own index.
func (h Handler[A, Req, Rep]) RoundRobin(m Members[A]) Port[Req, Rep] {
	return Port[Req, Rep]{route: routed(h.route, byTurns(rosterOf(m)), nil)}
}

// Random returns a port that asks a member drawn at random. The seed determines what each worker
// draws.
func (h Handler[A, Req, Rep]) Random(m Members[A], seed uint64) Port[Req, Rep] {
	return Port[Req, Rep]{route: routed(h.route, byChance(rosterOf(m), seed), nil)}
}

// ByKey returns a port that asks the same member for the same key, as long as the members are the
// same. Members with names get their keys by name, whenever and in whatever order they are made;
// members without, by the order in which they join. A member that joins takes over only its share
// of the keys; the keys of one that leaves are shared out among the others. Keys may be any
// numbers. The function key is called by the asker and must not keep the request.
func (h Handler[A, Req, Rep]) ByKey(m Members[A], key func(*Req) uint64) Port[Req, Rep] {
	c := byKey(rosterOf(m), key == nil)
	return Port[Req, Rep]{route: routed(h.route, c, func(c *stack.Stack) uint64 { return key(stack.Request[Req, Rep](c)) })}
}

// LeastQueued returns a port that asks the member with the fewest messages in its mailbox; among
// equals, in turn. For a member on the asker's own worker the number is exact. For others it is
// that at the end of their last visit, plus what goroutines have sent since, and what actors on
// other workers have sent in visits that have ended.
func (h Handler[A, Req, Rep]) LeastQueued(m Members[A]) Port[Req, Rep] {
	return Port[Req, Rep]{route: routed(h.route, byQueue(rosterOf(m)), nil)}
}

// chooser is a router that sends each message to one member.
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

// pick returns the member that gets c; nil: there is none.
//
//alloc:none
func (r *chooser) pick(w *stack.Engine, c *stack.Stack) *stack.House {
	key := uint64(0)
	if r.key != nil {
		key = r.key(c)
	}
	return r.policy.pick(w, key)
}

// guests returns where guests take their stacks; nil if there is no member.
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
