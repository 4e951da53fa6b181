package cluster

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// AtLeastOnce returns a port by which asks of an actor of another node are sent again, over the
// next session, when one is given up with the answer outstanding: until there is an answer, or the
// ask's time is over. The other node knows those that it has had, and answers them as before, so an
// ask runs once, or the asker hears that it may have: errors are those of asks of that actor, but
//
//	core.ErrLost         it may have run, and nobody knows how it has ended: the node has begun a
//	                     new life; or it has forgotten the answer, which it keeps for
//	                     10 minutes, of the last 65,536 such asks, in 64 MiB, of all nodes together
//	core.ErrOverloaded   it has not run: 8,192 asks of this node run there, or 65,536 of all nodes
//	core.ErrMailboxFull  it has not run: as the other node has no place for calls that wait beside a
//	                     full mailbox here, and nobody is told to hold others, it comes earlier
//	core.ErrNotFound     it has not run: there is no actor at the path
//	ErrNoNode            it has not run
//
// What the actor itself has answered is another matter, and so are core.ErrStopped and
// core.ErrRestarted, by which it may have ended meanwhile, and errors of the reply, which perhaps
// can't be encoded, or read here.
//
// Asks of one sender run in their order as long as the session lasts; those that are sent again by
// another one may be overtaken by later ones.
//
// An ask that was given up runs all the same, if the other node has got it. The actor is looked up
// for each ask, by its path: it may be another one after the session. Requests are encoded for each
// session, so they must not change while they are away. Each ask takes some memory there, and some
// allocations here; asks by other ports take none.
//
// Make one port for each actor, and keep it. Any goroutine may call AtLeastOnce.
func AtLeastOnce[Req, Rep any](n *Node, m core.Method[Req, Rep], to Where) core.Port[Req, Rep] {
	r := &retrier{hub: n.self, to: to}
	kind := reflect.TypeFor[Actor]()
	r.house = stack.NewStandIn(n.self.w, 0, kind, n.config.Mailbox, r)
	return m.At(r.house.Any(kind))
}

// retrier is the Remote of a port of AtLeastOnce: its house stands for the actor at a path, in all
// sessions.
type retrier struct {
	hub   *hub
	to    Where
	house *stack.House
	busy  int      // retries
	queue []*retry // of these, those that wait for room, in their order
	full  bool     // calls wait in the house until fewer are
}

// retry is an ask by a retrier. It belongs to a step of the hub, see try, until that ends.
type retry struct {
	by       *retrier
	number   uint32       // in hub.retries
	call     *stack.Stack // nil: its asker has given up, or is answered
	method   *method
	key      uint64
	deadline int64
	life     uint64 // of the other node, to which its first byte may have left; 0: none has
	track    *track // by which it is away
	request  []byte
	queued   bool // it is in the queue of by
}

const (
	// retriesMax is how many asks of one port are away at most.
	retriesMax = 1 << 12
	// retryAfter is how long a retry waits for a session, or for room.
	retryAfter = 50 * time.Millisecond
	// lookAfter is how often one that is away looks whether its asker still waits.
	lookAfter = time.Second
	// forever is a time that never comes, ns.
	forever = 1 << 62
)

// retries are those of a hub, by number; nil: it is free.
type retries struct {
	all  []*retry
	free []uint32
	key  uint64 // the last one
}

func (b *retries) add(p *retry) {
	b.key++
	p.key = b.key
	if n := len(b.free); n > 0 {
		p.number, b.free = b.free[n-1], b.free[:n-1]
		b.all[p.number] = p
		return
	}
	p.number = uint32(len(b.all))
	b.all = append(b.all, p)
}

func (b *retries) remove(p *retry) {
	b.all[p.number] = nil
	b.free = append(b.free, p.number)
}

// Ready implements away.Remote. If it reports false, the end of a retry readmits.
func (r *retrier) Ready(*stack.House) bool {
	r.full = r.busy >= retriesMax && !r.hub.over
	return !r.full
}

// Take implements away.Remote.
func (r *retrier) Take(_ *stack.House, c *stack.Stack) {
	h := r.hub
	m := h.methods.byName[c.Handler().Contract]
	switch {
	case m == nil || m.reply == nil:
		h.drop(c, r.house, lost.Refused, core.ErrNoHandler)
		return
	case h.over:
		h.w.FailAsk(c, unreachableNotSent)
		return
	}
	p := &retry{by: r, call: c, method: m, deadline: c.Deadline()}
	h.retries.add(p)
	c.SetSlot(p.number)
	r.busy++
	tell(h, on.try, p)
}

// Forget implements away.Remote.
func (r *retrier) Forget(_ *stack.House, c *stack.Stack) { r.hub.retries.all[c.Slot()].call = nil }

// Command implements away.Remote. Ports give no commands.
func (r *retrier) Command(*stack.House, command.Verb) {}

// Node implements away.Remote.
func (r *retrier) Node() string { return r.to.Node }

// Await implements away.Remote. Nobody can wait for the end.
func (r *retrier) Await(*stack.House, bool) {}

type tryStep struct {
	core.NoticeStack[*retry]
	reply core.Future[keyedReply]
	tick  core.Future[core.Tick] // of waits
	look  core.Future[core.Tick] // of away; nobody minds if it comes later
}

// try asks the hub of the other node, by the session there is, once its stand-in has room: so who
// is told of a full mailbox hears it from the other node. Half of the mailbox is for others who ask
// that hub, and of one port who has waited for longest goes first.
func (h *hub) try(s *tryStep) core.Yield {
	p := s.Msg
	if s.tick.Waiting() { // it was look
		return core.SuspendAny(s, (*hub).try)
	}
	if p.call == nil {
		return p.ends(s)
	}
	l := h.links[p.by.to.Node]
	if l == nil {
		return p.fails(s, ErrNoNode)
	}
	most := cmp.Or(h.node.config.Mailbox, h.w.MailboxMax) / 2
	if l.control().hub().house.Queued(h.w) >= max(1, most) || len(p.by.queue) > 0 && p.by.queue[0] != p {
		p.enqueue()
		return p.waits(s)
	}
	p.dequeue()
	p.track = l.control()
	text, err := p.track.write(p.method.request, p.method.RequestOf(p.call))
	if err == nil && len(text)+len(p.by.to.Path)+len(p.method.Name) > frame.LongMax-2*frame.HeadMax {
		err = ErrTooLong
	}
	if err != nil {
		return p.fails(s, err)
	}
	p.request = append(p.request[:0], text...)
	stack.Of(s).SetContext(p.call.Context().Share())
	// What it asks must not end before the asker does: its answer would be nobody's.
	limit := int64(forever)
	if p.deadline != 0 {
		limit = max(1, p.deadline-h.w.Now)
	}
	ask := keyedAsk{p.key, p.life, p.by.to.Path, p.method.Name, p.request}
	keyedMethod.At(p.track.hub().any()).AskWithin(s, &s.reply, ask, time.Duration(limit))
	return p.away(s)
}

// away waits for the answer, and looks from time to time whether anybody else does: with the step
// ends what it asks.
func (p *retry) away(s *tryStep) core.Yield {
	if !s.look.Waiting() {
		core.Timer.Ask(s, &s.look, lookAfter)
	}
	return core.SuspendAny(s, (*hub).tried)
}

func (h *hub) tried(s *tryStep) core.Yield {
	p, t := s.Msg, s.Msg.track
	if p.call == nil {
		return p.ends(s)
	}
	if !s.reply.Ready() {
		return p.away(s)
	}
	rep, err := s.reply.Get()
	switch {
	case err == nil && t.over != nil: // nobody can read it any more: the other node says it again
	case err == nil:
		err = t.replyTo(p.call, p.method, rep.Reply)
		c := p.call
		p.call = nil
		h.w.Answer(c, pool.Bytes{}, err)
		return p.ends(s)
	case t.over != nil && (errors.Is(err, ErrUnreachable) || errors.Is(err, ErrNodeLost)):
	case p.life != 0 && p.life != t.life && err != core.ErrTimeout: // who says so can't know
		return p.fails(s, err)
	default:
		c := p.call
		p.call = nil
		h.w.FailAsk(c, err)
		return p.ends(s)
	}
	if p.life == 0 && !errors.Is(err, core.ErrNotSent) {
		p.life = max(1, t.life)
	}
	return p.waits(s)
}

// replyTo reads what a call by a retry was answered, behind the turn in which it came.
func (t *track) replyTo(c *stack.Stack, m *method, text []byte) error {
	by := t.foreignOf(m)
	switch {
	case by == nil:
		return unreachableLost // the other node has answered what it can't have read
	case by.noReply != nil:
		return by.noReply
	}
	defer t.link.settleRead()
	return t.read(by.reply, text, c, m.ReplyOf(c))
}

// enqueue has a retry wait behind those of its port that do.
func (p *retry) enqueue() {
	if !p.queued {
		p.queued = true
		p.by.queue = append(p.by.queue, p)
	}
}

// dequeue has a retry wait for room no more.
func (p *retry) dequeue() {
	if p.queued {
		p.queued = false
		i := slices.Index(p.by.queue, p)
		p.by.queue = slices.Delete(p.by.queue, i, i+1)
	}
}

// waits has a retry try again in a while.
func (p *retry) waits(s *tryStep) core.Yield {
	p.track = nil
	core.Timer.Ask(s, &s.tick, retryAfter)
	return core.SuspendAny(s, (*hub).try)
}

// fails ends a retry, because of an error by which nothing is known of earlier tries.
func (p *retry) fails(s *tryStep, err error) core.Yield {
	c := p.call
	p.call = nil
	if p.life != 0 {
		err = core.ErrLost
	}
	p.by.hub.w.FailAsk(c, err)
	return p.ends(s)
}

// ends ends the step of a retry whose asker waits no more.
func (p *retry) ends(s *tryStep) core.Yield {
	r := p.by
	p.dequeue()
	r.hub.retries.remove(p)
	if r.busy--; r.full {
		r.full = false
		r.hub.w.Readmit(r.house)
	}
	return s.Return()
}

// loseRetries ends all that are away, as the hub ends.
func (h *hub) loseRetries() {
	h.over = true
	for _, p := range slices.Clone(h.retries.all) {
		if p == nil {
			continue
		}
		if c := p.call; c != nil {
			p.call = nil
			h.w.FailAsk(c, lostBy(ErrUnreachable, p.life != 0 || p.track != nil && p.track.life != 0))
		}
		if p.by.full {
			p.by.full = false
			h.w.Readmit(p.by.house)
		}
	}
}
