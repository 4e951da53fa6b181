package cluster

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// This file is what this node has of actors of the other one: houses that stand in for them, and
// the asks that are away.

// standIn is the Remote of one house. There is one for each actor and session, so that addresses
// compare.
type standIn struct {
	debt
	track  *track
	house  *stack.House
	kind   reflect.Type
	number uint64 // in frames of this track; 0 is the other node's hub, which isn't declared
	serial uint64 // of the actor, at the other end

	gone     bool   // the actor has stopped
	declared bool   // REF was written
	held     bool   // by the other end, from HOLD to RESUME
	starved  bool   // it is among the track's starved, or fed
	long     bool   // what was taken last was too long for one piece
	fed      uint64 // the track's round in which something was taken last
	away     int    // asks
	sending  bool   // a call of it is being written in pieces
	awaited  bool   // somebody here waits for the actor's end
	watched  bool   // what was written last is WATCH
	commands []command.Verb
}

// hubKind is the type of other nodes' hubs.
var hubKind = reflect.TypeFor[hub]()

// hub returns the stand-in for the other node's hub.
func (t *track) hub() *standIn { return t.standIns[0] }

// standInFor returns the stand-in for an actor of the other node, by the serial there.
func (l *link) standInFor(serial uint64, kind reflect.Type) *standIn {
	r := l.bySerial[serial]
	if r == nil {
		r = l.next().newStandIn(serial, kind)
		l.bySerial[serial] = r
	}
	return r
}

// unused is a number that is free again, once the other end has read what was written to the actor
// before.
type unused struct{ number, from uint64 }

func (t *track) newStandIn(serial uint64, kind reflect.Type) *standIn {
	r := &standIn{track: t, serial: serial, kind: kind, number: uint64(len(t.standIns))}
	r.house = stack.NewStandIn(t.w, serial, kind, t.link.hub.node.config.Mailbox, r)
	if u := t.unused; len(u) > 0 && u[0].from <= t.out.Left().Acknowledged {
		r.number = u[0].number
		delete(t.link.bySerial, t.standIns[r.number].serial)
		t.standIns[r.number] = r
		t.unused = u[1:]
	} else {
		t.standIns = append(t.standIns, r)
	}
	if t.over != nil {
		t.w.Vanish(r.house, t.over)
	}
	return r
}

// any returns the address of the actor.
func (r *standIn) any() core.AnyAddress { return r.house.Any(r.kind) }

// Ready implements away.Remote.
func (r *standIn) Ready(*stack.House) bool {
	if r.held || r.sending {
		return false
	}
	if !r.declared {
		r.track.owe(r)
	}
	t := r.track
	if r.declared && t.hasRoom() && r.hasSlot() && !t.full(r.long) {
		return true
	}
	r.waits()
	return false
}

// Take implements away.Remote.
func (r *standIn) Take(_ *stack.House, c *stack.Stack) {
	t := r.track
	m := t.methodOf(c.Handler())
	if m == nil {
		t.link.hub.drop(c, r.house, lost.Refused, core.ErrNoHandler)
		return
	}
	text, err := t.write(m.request, m.RequestOf(c))
	if err != nil {
		t.link.hub.drop(c, r.house, lost.Refused, err)
		return
	}
	r.fed, r.long, t.replied = t.round, false, false
	if m.Reply == nil {
		f := frame.Tell{To: r.number, Method: m.number, Message: text}
		if t.speaks < 2 || !t.out.Join(&f) {
			r.write(f.Append(t.frame[:0]), nil)
		}
		t.wrote++
		t.w.Discard(c)
		return
	}
	s := t.slot()
	f := frame.Ask{Slot: s.number, To: r.number, Method: m.number, Context: c.Context().Text(), Message: text}
	if d := c.Deadline(); d != 0 {
		f.Remaining = uint64(max(1, d-t.w.Now))
	}
	r.away++
	s.from, s.call, s.method, s.at = r, c, m, t.out.Left().End
	c.SetSlot(uint32(s.number))
	r.write(f.Append(t.frame[:0]), s)
}

// write writes the frame of a call, whatever its length. s is an ask's slot; nil: it is a notice.
func (r *standIn) write(f []byte, s *slot) {
	if len(f) <= frame.FrameMax {
		r.track.append(f)
		return
	}
	r.long = true
	r.track.send(f, r, s)
}

// methodOf returns the method that a handler is of; nil: it is of none.
func (t *track) methodOf(by *stack.Handler) *method {
	if by != t.lastBy {
		t.lastBy, t.lastOf = by, t.methods.byName[by.Contract]
	}
	return t.lastOf
}

// Forget implements away.Remote.
func (r *standIn) Forget(_ *stack.House, c *stack.Stack) {
	s := r.track.slots[c.Slot()]
	s.call = nil
	r.track.owe(s)
}

// Command implements away.Remote.
func (r *standIn) Command(_ *stack.House, what command.Verb) {
	r.commands = slices.DeleteFunc(r.commands, func(v command.Verb) bool { return v == what || undoes(what, v) })
	r.commands = append(r.commands, what)
	r.track.owe(r)
}

// undoes reports whether a command makes an earlier one needless.
func undoes(v, earlier command.Verb) bool {
	return v == command.Pause && earlier == command.Continue || v == command.Continue && earlier == command.Pause
}

// Node implements away.Remote.
func (r *standIn) Node() string { return r.track.link.name }

// Await implements away.Remote.
func (r *standIn) Await(_ *stack.House, is bool) {
	r.awaited = is
	if is {
		r.track.awaited++
	} else {
		r.track.awaited--
	}
	r.track.owe(r)
}

// codes are the numbers of commands in frames.
var codes = map[command.Verb]uint64{command.Stop: 1, command.Drain: 2, command.Pause: 3, command.Continue: 4, command.Restart: 5}

// pay implements debtor: it declares the actor, and says what it is told.
func (r *standIn) pay() bool {
	t := r.track
	if r.gone {
		return true
	}
	if !r.declared {
		f := frame.Ref{Number: r.number, Serial: r.serial}
		if r.number != 0 && !t.tryAppend(f.Append(t.frame[:0])) {
			return false
		}
		r.declared = true
	}
	for len(r.commands) > 0 {
		f := frame.Command{To: r.number, Code: codes[r.commands[0]]}
		if f.Code != 0 && !t.tryAppend(f.Append(t.frame[:0])) {
			return false
		}
		r.commands = append(r.commands[:0], r.commands[1:]...)
	}
	if r.awaited == r.watched {
		return true
	}
	f := (&frame.Unwatch{To: r.number}).Append(t.frame[:0])
	if r.awaited {
		f = (&frame.Watch{To: r.number}).Append(t.frame[:0])
	}
	if !t.tryAppend(f) {
		return false
	}
	r.watched = r.awaited
	return true
}

// gone is a GONE: the actor has stopped.
func (t *track) gone(f *frame.Gone) error {
	r, err := t.standIn(f.To)
	if err != nil || r.number == 0 || r.gone {
		return err
	}
	if !r.declared {
		return errRef
	}
	if r.gone = true; !r.sending {
		t.unused = append(t.unused, unused{r.number, t.out.Left().End})
	}
	if r.held {
		r.held = false
		t.held--
	}
	if r.awaited {
		r.awaited = false
		t.awaited--
	}
	t.w.Vanish(r.house, nil)
	t.look()
	return nil
}

func (t *track) standIn(number uint64) (*standIn, error) {
	if number >= uint64(len(t.standIns)) {
		return nil, errRef
	}
	return t.standIns[number], nil
}

// hold is HOLD, or RESUME.
func (t *track) hold(to uint64, is bool) error {
	r, err := t.standIn(to)
	if err != nil || r.held == is || r.gone {
		return err
	}
	if r.held = is; is {
		t.held++
	} else if t.held--; !r.sending {
		t.w.Readmit(r.house)
	}
	t.look()
	return nil
}

// slot is where an ask is while it is away. It is free again once the other end has answered, also
// what was given up: so an answer never meets another call.
type slot struct {
	debt
	track  *track
	number uint64
	from   *standIn
	call   *stack.Stack // nil: given up
	method *method
	at     uint64 // position of its frame in the stream
	busy   bool
	long   bool  // its frame isn't all written
	next   *slot // free
}

// slotsMax is how many asks of a track are away at most.
const slotsMax = 1 << 16

func (t *track) hasSlot() bool { return t.busy < slotsMax }

// hasSlot reports whether there is a slot for one more ask: one actor has as many as are free at
// most, so those of another one find some though it answers none.
func (r *standIn) hasSlot() bool { return r.away < slotsMax-r.track.busy }

func (t *track) slot() *slot {
	s := t.free
	if s == nil {
		s = &slot{track: t, number: uint64(len(t.slots))}
		t.slots = append(t.slots, s)
	} else {
		t.free = s.next
	}
	s.busy, s.long, s.next = true, false, nil
	t.busy++
	return s
}

// pay implements debtor: it writes CANCEL.
func (s *slot) pay() bool {
	return !s.busy || s.long || s.track.tryAppend((&frame.Cancel{Slot: s.number}).Append(s.track.frame[:0]))
}

// answered frees a slot, and returns its call; nil: it was given up.
func (t *track) answered(number uint64) (*stack.Stack, *method, error) {
	if number >= uint64(len(t.slots)) || !t.slots[number].busy {
		return nil, nil, errSlot
	}
	s := t.slots[number]
	c := s.call
	s.from.away--
	s.from, s.call, s.busy = nil, nil, false
	s.next, t.free = t.free, s
	t.busy--
	t.freed = true
	return c, s.method, nil
}

// reply ends a call with what a REPLY says.
func (t *track) reply(f *frame.Reply) error {
	c, m, err := t.answered(f.Slot)
	if c == nil || err != nil {
		return err
	}
	by := t.foreignOf(m)
	if by == nil { // REPLYs come behind METHODs
		t.w.FailAsk(c, unreachableLost)
		return errMethod
	}
	if err = by.noReply; err == nil {
		err = t.read(by.reply, f.Message, c, m.ReplyOf(c))
	}
	t.w.Answer(c, pool.Bytes{}, err)
	return nil
}

// fail ends a call with what a FAIL says.
func (t *track) fail(f *frame.Fail) error {
	c, _, err := t.answered(f.Slot)
	if c == nil || err != nil {
		return err
	}
	t.w.FailAsk(c, errorOf(f))
	return nil
}

// loseAsks ends all asks that are away, because of err, in the order in which they were written:
// perhaps they are asked again.
func (t *track) loseAsks(err error, left uint64) {
	for _, s := range slices.SortedStableFunc(slices.Values(t.slots), func(a, b *slot) int { return cmp.Compare(a.at, b.at) }) {
		if c := s.call; c != nil {
			s.call = nil
			t.w.FailAsk(c, lostBy(err, s.at < left))
		}
	}
}

// unreached is why calls end that a track's end has met.
type unreached struct {
	error       // ErrUnreachable, ErrNodeLost
	like  error // core.ErrLost, core.ErrNotSent
}

// Error implements error.
func (e *unreached) Error() string { return e.error.Error() + ": " + e.like.Error() }

func (e *unreached) Unwrap() []error { return []error{e.error, e.like} }

// The four there are: they are compared, and made once.
var (
	unreachableLost    = &unreached{ErrUnreachable, fault.ErrLost}
	unreachableNotSent = &unreached{ErrUnreachable, fault.ErrNotSent}
	nodeLost           = &unreached{ErrNodeLost, fault.ErrLost}
	nodeLostNotSent    = &unreached{ErrNodeLost, fault.ErrNotSent}
)

// lostBy returns the error of a call for err. left says whether bytes of it may have left.
func lostBy(err error, left bool) error {
	switch {
	case err == ErrUnreachable && left:
		return unreachableLost
	case err == ErrUnreachable:
		return unreachableNotSent
	case left:
		return nodeLost
	}
	return nodeLostNotSent
}
