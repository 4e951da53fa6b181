package cluster

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/lost"
	"github.com/stackhouse-go/stackhouse/stack/pace"
	"github.com/stackhouse-go/stackhouse/stack/tracing"
)

// This file is what the other node has of actors of this one: the numbers by which it knows them,
// and its asks.

// ref is an actor of this node that the other end has declared.
type ref struct {
	debt
	track   *track
	number  uint64
	house   *stack.House // nil: there is no such actor any more
	held    bool         // HOLD is to be written, or was; and no RESUME: see overflow
	told    bool         // what was written last is HOLD
	watched bool         // by the other end
	gone    bool         // GONE is to be written, or was
	said    bool         // GONE was written
}

// declare notes the number of an actor of this node. There are as many numbers as actors were ever
// found or told of, and they come in their order. One of an actor that has stopped may come anew,
// once the other end has heard of that.
func (t *track) declare(f *frame.Ref) error {
	b := &t.link.hub.served
	switch next := uint64(len(t.refs)); {
	case f.Number > min(next, uint64(b.exported)):
		return errRef
	case f.Number == next:
		t.refs = append(t.refs, nil)
	case !t.refs[f.Number].said:
		return errRef
	}
	r := &ref{track: t, number: f.Number, house: b.actors[f.Serial]}
	t.refs[f.Number] = r
	if r.house == nil || r.house.Gone() {
		r.ended()
	}
	return nil
}

func (t *track) ref(number uint64) (*ref, error) {
	if number >= uint64(len(t.refs)) {
		return nil, errRef
	}
	return t.refs[number], nil
}

// pay implements debtor: it writes HOLD or RESUME, whichever is true now, and GONE.
func (r *ref) pay() bool {
	t := r.track
	if r.held != r.told && !r.said {
		f := (&frame.Resume{To: r.number}).Append(t.frame[:0])
		if r.held {
			f = (&frame.Hold{To: r.number}).Append(t.frame[:0])
		}
		if !t.tryAppend(f) {
			return false
		}
		r.told = r.held
	}
	if !r.gone || r.said {
		return true
	}
	if r.said = t.tryAppend((&frame.Gone{To: r.number}).Append(t.frame[:0])); r.said && r.watched {
		r.watched = false
		t.owing--
	}
	return r.said
}

// does a command of the other end.
func (r *ref) does(code uint64) {
	g := r.track.w.Guests
	if r.house == nil || r.house == r.track.link.hub.at {
		return // a node's hub is its own
	}
	switch code {
	case codes[command.Stop]:
		r.house.Stop(g)
	case codes[command.Drain]:
		r.track.link.hub.drain(r.house)
	case codes[command.Pause]:
		r.house.Pause(g)
	case codes[command.Continue]:
		r.house.Continue(g)
	case codes[command.Restart]:
		r.house.Restart(g, errRestart)
	}
}

// watch is WATCH, or UNWATCH.
func (r *ref) watch(is bool) {
	h := r.track.link.hub
	if r.watched == is || r.said {
		return
	}
	if r.watched = is; is {
		r.track.owing++
	} else {
		r.track.owing--
	}
	switch all := h.watched[r.house]; {
	case r.house == nil:
		r.ended()
		return
	case is:
		h.watched[r.house] = append(all, r)
	default:
		if all = slices.DeleteFunc(all, func(o *ref) bool { return o == r }); len(all) > 0 {
			h.watched[r.house] = all
		} else {
			delete(h.watched, r.house)
		}
	}
	tell(h, on.watch, r.house)
	r.track.look()
}

// ended says that the actor has stopped.
func (r *ref) ended() {
	if !r.gone {
		r.gone = true
		r.track.answer(r)
	}
}

// table is what the hub serves: actors that other nodes have heard of, and their asks.
type table struct {
	actors   map[uint64]*stack.House // by serial; see export
	exported int                     // actors, ever
	sweepAt  int                     // how many actors there are when the stopped ones are forgotten
	asks     []*serving              // by the number that they have as calls
	free     *serving
}

// take returns one that is free.
func (b *table) take() *serving {
	s := b.free
	if s == nil {
		s = &serving{number: uint32(len(b.asks))}
		b.asks = append(b.asks, s)
		return s
	}
	b.free, s.next = s.next, nil
	return s
}

func (b *table) put(s *serving) {
	*s = serving{number: s.number, next: b.free}
	b.free = s
}

// serving is an ask of another node, from ASK to its answer.
type serving struct {
	debt
	number uint32
	track  *track // nil: it runs a keyed ask
	slot   uint64
	method *method
	call   *stack.Stack // nil: it didn't begin, or was given up and has ended
	err    error        // why, then
	waits  bool         // its call is in an overflow
	awaits *record      // of a keyed ask, which has the answer in the end
	runs   *record      // of the keyed ask that it runs; no track awaits its answer
	given  bool         // CANCEL came, or the track is over: nobody waits for its answer
	ended  bool         // its answer is there
	next   *serving
}

// serve begins an ask of the other end.
func (t *track) serve(f *frame.Ask) error {
	r, m, err := t.called(f.To, f.Method)
	if err != nil {
		return err
	}
	if m.method != nil && m.method.reply == nil {
		return errMethod // it is of notices
	}
	switch has := uint64(len(t.serving)); {
	case tracing.Text(f.Context).Check() != nil:
		return errContext
	case f.Slot >= slotsMax, f.Slot > has+partsMax, f.Slot < has && t.serving[f.Slot] != nil:
		return errSlot
	}
	for uint64(len(t.serving)) <= f.Slot {
		t.serving = append(t.serving, nil)
	}
	s := t.link.hub.served.take()
	s.track, s.slot, s.method = t, f.Slot, m.method
	t.serving[f.Slot] = s
	t.owing++
	t.look()
	if f.To == 0 && m.method == t.methods.keyed {
		t.serveKeyed(s, m, f)
		return nil
	}
	by, err := t.handlerOf(r, m)
	if err != nil {
		s.refuse(err)
		return nil
	}
	if err := t.begin(s, by, m, f, f.Message); err != nil {
		s.refuse(err)
		return nil
	}
	r.deliver(s.call, t.sizeOf(f.Message)+len(f.Context), s)
	return nil
}

// begin makes the call of an ask that is served: by a handler, with a request.
func (t *track) begin(s *serving, by *stack.Handler, m *foreign, f *frame.Ask, request []byte) error {
	deadline := int64(0)
	if f.Remaining != 0 {
		deadline = pace.Later(t.w.Now, int64(f.Remaining))
	}
	c := t.w.Serve(t.link.hub.at, by, s.number, deadline)
	c.Aim(t.link.hub.at) // for the shard that its bytes are of
	if len(f.Context) > 0 {
		c.SetContext(tracing.Of(&t.w.Shard, f.Context))
	}
	if err := t.read(m.request, request, c, m.RequestOf(c)); err != nil {
		t.w.Discard(c)
		return err
	}
	s.call = c
	return nil
}

// handlerOf returns what handles a method at an actor.
func (t *track) handlerOf(r *ref, m *foreign) (*stack.Handler, error) {
	switch {
	case m.noRequest != nil:
		return nil, m.noRequest
	case r.house == nil:
		return nil, core.ErrStopped
	case r.house.Gone():
		r.ended() // the other end needn't ask again
	}
	if kind := r.house.Kind(); kind != m.kind {
		m.kind, m.by = kind, m.Handler(kind)
	}
	if m.by == nil {
		return nil, core.ErrNoHandler
	}
	return m.by, nil
}

// Answered implements away.Server.
func (h *hub) Answered(c *stack.Stack) bool {
	s := h.served.asks[uint32(c.ID())]
	if s.runs != nil {
		h.ran(s)
		return true
	}
	s.ended = true
	if s.given {
		s.isDropped()
		return false
	}
	s.track.answer(s)
	return true
}

// isDropped ends an ask that was given up, and whose call is somebody else's to put.
func (s *serving) isDropped() {
	if s.call = nil; s.track.over != nil {
		s.track.link.hub.served.put(s)
		return
	}
	s.refuse(core.ErrCancelled)
}

// refuse answers an ask that can't begin.
func (s *serving) refuse(err error) {
	s.err = err
	s.track.answer(s)
}

// pay implements debtor: it writes the answer.
func (s *serving) pay() bool {
	t := s.track
	err := s.err
	if s.call != nil {
		err = s.call.Err()
	}
	var text []byte
	var fail *frame.Fail
	switch r := s.awaits; {
	case r != nil && r.done:
		if len(r.reply) > frame.FrameMax && !t.answersLong() { // or each that asks has it encoded in vain
			t.parcels.behind = append(t.parcels.behind, s)
			return true
		}
		if fail = r.fail; fail == nil {
			text, err = t.writeKept(s.method.reply, r.reply)
		}
	case err == nil:
		text, err = t.write(s.method.reply, s.method.ReplyOf(s.call))
	}
	if err != nil {
		fail = failOf(err)
	}
	f := (&frame.Reply{Slot: s.slot, Message: text}).Append(t.frame[:0])
	if fail != nil {
		e := *fail
		if e.Slot = s.slot; t.speaks < 2 {
			e.Name = nil
		} else if e.Name != nil {
			e.Code = 0
		}
		f = e.Append(t.frame[:0])
	}
	if len(f) > frame.FrameMax {
		if !t.answersLong() {
			t.parcels.behind = append(t.parcels.behind, s)
			return true
		}
		t.send(f, nil, nil)
	} else if !t.tryAppend(f) {
		return false
	}
	if s.call != nil {
		t.w.Discard(s.call)
	}
	t.serving[s.slot] = nil
	t.owing--
	t.link.hub.served.put(s)
	t.look()
	return true
}

// giveUp gives up an ask whose answer isn't there yet.
func (s *serving) giveUp() {
	if r := s.awaits; r != nil && !r.done {
		r.waiting, s.awaits = nil, nil
		s.refuse(core.ErrCancelled)
		return
	}
	c := s.call
	if c == nil || s.ended || s.given {
		return
	}
	if s.given = true; !s.waits {
		s.track.w.Unserve(c)
	}
}

// cancel gives up an ask of the other end. There may be none: it was answered, or its pieces
// haven't come.
func (t *track) cancel(slot uint64) error {
	if slot >= slotsMax {
		return errSlot
	}
	if slot >= uint64(len(t.serving)) {
		return nil
	}
	if s := t.serving[slot]; s != nil {
		s.giveUp()
	}
	return nil
}

// loseServed gives up all asks of the other end, as nobody waits for their answers.
func (t *track) loseServed() {
	for _, s := range t.serving {
		if s == nil {
			continue
		}
		if s.giveUp(); s.given && s.call != nil {
			continue // it is on its way
		}
		if s.call != nil {
			t.w.Discard(s.call)
		}
		t.link.hub.served.put(s)
	}
	t.serving = nil
	for _, r := range t.refs {
		if r.house != nil {
			r.watch(false)
		}
	}
}

// tell hands on a notice of the other end.
func (t *track) tell(f *frame.Tell) error {
	by, r, m, err := t.told(f.To, f.Method)
	if err == nil {
		t.hand(by, r, m, f.Message)
	}
	return err
}

// tellAll hands on notices that came together.
func (t *track) tellAll(f *frame.Tells) error {
	by, r, m, err := t.told(f.To, f.Method)
	if err != nil {
		return err
	}
	for text, ok := f.Take(); ok; text, ok = f.Take() {
		t.hand(by, r, m, text)
	}
	return nil
}

// told returns what handles notices of a method at an actor, if anything does.
func (t *track) told(to, number uint64) (by *stack.Handler, r *ref, m *foreign, err error) {
	if r, m, err = t.called(to, number); err != nil {
		return nil, nil, nil, err
	}
	if m.method != nil && m.method.reply != nil {
		return nil, nil, nil, errMethod // it is of asks
	}
	by, _ = t.handlerOf(r, m)
	return by, r, m, nil
}

// hand hands on a notice, or makes it a dead letter. by is nil if nothing handles it.
func (t *track) hand(by *stack.Handler, r *ref, m *foreign, text []byte) {
	t.got++
	if by == nil {
		of, d := m.method, m.request
		if of == nil {
			of, d = t.methods.byName[unknownName], nil
		}
		why := lost.Refused // it has no such method
		if r.house == nil || r.house.Gone() {
			why = lost.Stopped
		}
		t.lose(r.house, of, d, text, why)
		return
	}
	c := t.w.Begin(by)
	c.Aim(t.link.hub.at)
	switch err := t.read(m.request, text, c, m.RequestOf(c)); {
	case err != nil:
		t.w.Lost(r.house, c, lost.Refused)
	case r.house.Gone():
		t.w.Lost(r.house, c, lost.Stopped)
	default:
		r.deliver(c, t.sizeOf(text), nil)
		return
	}
	t.w.Discard(c)
}

// sizeOf returns what the message that was read last takes, about: the stand-ins, too, that it has
// told of.
func (t *track) sizeOf(text []byte) int {
	n := t.names.made * standInSize
	t.names.made = 0
	return len(text) + n
}

// lose makes a notice to an actor, or to nobody, a dead letter.
func (t *track) lose(to *stack.House, m *method, by *wire.Decoder, text []byte, why lost.Reason) {
	c := t.w.Begin(m.Far())
	c.Aim(t.link.hub.at)
	if by != nil {
		t.read(by, text, c, m.RequestOf(c)) // if that fails the letter is empty
	}
	t.w.Lost(to, c, why)
	t.w.Discard(c)
}

// called returns the actor and the method of a call.
func (t *track) called(to, number uint64) (*ref, *foreign, error) {
	r, err := t.ref(to)
	if err != nil {
		return nil, nil, err
	}
	if number == 0 || number > uint64(len(t.theirs)) {
		return nil, nil, errMethod
	}
	return r, t.theirs[number-1], nil
}
