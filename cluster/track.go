package cluster

import (
	"errors"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// track is one ordered stream to the other node and back, in one session: it writes the calls of
// its stand-ins, and does what the frames say that come. What passes between a connection and it is
// bytes. It is over once its session is.
type track struct {
	link    *link
	number  int    // in the link; 0 is the control track
	life    uint64 // of the other end; 0: there was no connection yet
	speaks  uint64 // the version of frames that both ends speak; 0: it isn't known yet
	methods *catalogue
	w       *stack.Engine
	out     session.Outgoing
	in      session.Incoming
	conn    *conn  // up; nil: there is none
	over    error  // why it is over; nil: it isn't
	wanted  bool   // it needs a connection
	began   bool   // what a session begins with was written, but for METHODs
	wrote   uint64 // notices
	got     uint64 // notices
	taken   int    // frames and notices, since the last pause
	debts   debts
	answers debts // and GONEs, which don't overtake them
	*scratch
	parcels parcels
	lastBy  *stack.Handler // of the last call that was written
	lastOf  *method        // the method that it is of
	named   int            // methods of the catalogue that were declared

	standIns []*standIn // by number
	unused   []unused   // numbers of stand-ins whose actors have stopped
	starved  []*standIn // whose calls wait for room, or for a slot
	fed      []*standIn // the same, but something of theirs was taken in this round
	round    uint64     // from one time that such go on to the next
	replied  bool       // answers were written since a call was taken
	slots    []*slot
	free     *slot
	freed    bool // a slot, or a stand-in is to be declared, since the last settle
	held     int  // stand-ins
	awaited  int  // stand-ins
	busy     int  // slots
	owing    int  // what the other end waits for: servings, refs that it watches or that hold it

	theirs  []*foreign // by the other end's number - 1
	byMine  []*foreign // the same by this node's number - 1; nil: not declared
	refs    []*ref     // by the other end's number
	serving []*serving // by the other end's slot
}

var (
	errSlot    = errors.New("cluster: a slot that isn't free, or isn't in use")
	errRef     = errors.New("cluster: an actor that wasn't declared")
	errMethod  = errors.New("cluster: a method that wasn't declared")
	errContext = errors.New("cluster: an ask whose context can't be read")
	errRestart = errors.New("cluster: another node has restarted the actor")
)

func newTrack(l *link, number int) *track {
	h := l.hub
	t := &track{link: l, number: number, methods: h.methods, w: h.w,
		out: session.MakeOutgoing(h.node.config.Window), in: session.MakeIncoming(4 * pool.SlabMax),
		byMine: make([]*foreign, len(h.methods.all)), scratch: &h.scratch}
	t.newStandIn(0, hubKind)
	t.refs = append(t.refs, &ref{track: t, house: h.at})
	return t
}

// scratch is where frames and messages are made and read, one at a time, for all tracks of a hub.
type scratch struct {
	frame  []byte // of room for any that isn't long
	text   []byte // of a message
	reader wire.Reader
	budget wire.Budget
	names  names
	kept   keyedReply
	last   frames // read last, by kind

	packed, unpacked []byte // a long frame; at most textKept
}

// textKept is how much room for texts is kept, once a longer one was written.
const textKept = 1 << 20

// append writes a frame, for which there is room.
func (t *track) append(f []byte) {
	t.out.Append(&t.w.Shard, f)
	t.look()
	if t.conn != nil {
		t.conn.send()
	}
}

// look has the link learn whether the track needs a connection: as long as either end waits for
// anything, both do, as perhaps only the other one can dial.
func (t *track) look() {
	left := t.out.Left()
	if is := left.End != left.Acknowledged || t.busy > 0 || t.held > 0 || t.awaited > 0 || t.owing > 0; is != t.wanted && t.over == nil {
		t.wanted = is
		t.link.wants(t.number, is)
	}
}

// isUnread reports whether the link has a connection, and there is something that the other end
// hasn't read.
func (t *track) isUnread() bool {
	left := t.out.Left()
	return len(t.link.conns) > 0 && left.End != left.Acknowledged
}

// write writes the message at a place, which is valid until the next one.
func (t *track) write(c *wire.Codec, at unsafe.Pointer) (text []byte, err error) {
	if cap(t.text) > textKept {
		t.text = nil
	}
	if !c.Decoder().Calls() {
		t.text = c.Append(t.text[:0], at)
	} else {
		t.names = names{track: t}
		fault.Catch("a link", "AppendWire", &err, func() error {
			t.text = c.AppendBy(&t.names, t.text[:0], at)
			return t.names.err
		})
	}
	if err == nil && len(t.text) > frame.LongMax-frame.HeadMax {
		err = ErrTooLong
	}
	return t.text, err
}

// read reads a message to a place in a call. Bytes of it live as long as the call.
func (t *track) read(d *wire.Decoder, text []byte, call *stack.Stack, at unsafe.Pointer) (err error) {
	t.reader.ResetWithin(text, t.budget.Of(len(text)))
	t.names.made = 0
	if d.Keeps() {
		t.reader.Lend(pool.Bytes{}, call.Carry(), &t.w.Shard)
	}
	if !d.Calls() {
		return t.readAll(d, at)
	}
	t.names.track = t
	t.reader.SetNames(&t.names)
	fault.Catch("a link", "ReadWire", &err, func() error { return t.readAll(d, at) })
	return err
}

// readKeyed reads a keyed ask, whose bytes are those of the text.
func (t *track) readKeyed(d *wire.Decoder, text []byte) (k *keyedAsk, err error) {
	t.reader.ResetWithin(text, t.budget.Of(len(text)))
	k = new(keyedAsk)
	return k, t.readAll(d, unsafe.Pointer(k))
}

// writeKept writes the reply to a keyed ask; see write.
func (t *track) writeKept(c *wire.Codec, reply []byte) (text []byte, err error) {
	t.kept.Reply = reply
	text, err = t.write(c, unsafe.Pointer(&t.kept))
	t.kept.Reply = nil
	return text, err
}

// readAll reads the whole of what the reader has to a place.
func (t *track) readAll(d *wire.Decoder, at unsafe.Pointer) error {
	if err := d.Read(&t.reader, at); err != nil {
		return err
	}
	return t.reader.End()
}

// receive does what the whole frames at the start of in say, and returns how many bytes they have.
func (t *track) receive(in []byte) (n int, err error) {
	for t.over == nil && t.taken < share {
		f, size, err := frame.Next(in[n:])
		if err != nil {
			return n, err
		}
		if size == 0 {
			break
		}
		got := t.got
		if err := t.do(f); err != nil {
			return n, err
		}
		t.in.Applied(f)
		n += size
		t.taken += 1 + int(t.got-got)
	}
	t.link.settleRead()
	return n, nil
}

// settleRead settles behind what was read, where that calls for it.
func (l *link) settleRead() {
	for _, t := range l.tracks {
		if t.freed {
			t.freed = false
			t.settle()
		}
	}
}

// do does what a frame says.
func (t *track) do(f frame.Raw) error {
	switch f.Kind {
	case frame.KindTell:
		var m frame.Tell
		if err := m.Read(f); err != nil {
			return err
		}
		return t.tell(&m)
	case frame.KindTells:
		var m frame.Tells
		if err := m.Read(f); err != nil {
			return err
		}
		return t.tellAll(&m)
	case frame.KindAsk:
		var m frame.Ask
		if err := m.Read(f); err != nil {
			return err
		}
		return t.serve(&m)
	case frame.KindReply:
		var m frame.Reply
		if err := m.Read(f); err != nil {
			return err
		}
		return t.reply(&m)
	case frame.KindFail:
		return with(f, &t.last.fail, t.fail)
	case frame.KindCancel:
		return with(f, &t.last.cancel, func(c *frame.Cancel) error { return t.cancel(c.Slot) })
	case frame.KindMethod:
		return with(f, &t.last.method, t.learn)
	case frame.KindRef:
		return with(f, &t.last.ref, t.declare)
	case frame.KindHold:
		return with(f, &t.last.hold, func(h *frame.Hold) error { return t.hold(h.To, true) })
	case frame.KindResume:
		return with(f, &t.last.resume, func(h *frame.Resume) error { return t.hold(h.To, false) })
	case frame.KindWatch:
		return with(f, &t.last.watch, func(w *frame.Watch) error { return t.watches(w.To, true) })
	case frame.KindUnwatch:
		return with(f, &t.last.unwatch, func(w *frame.Unwatch) error { return t.watches(w.To, false) })
	case frame.KindCommand:
		return with(f, &t.last.command, t.command)
	case frame.KindGone:
		return with(f, &t.last.gone, t.gone)
	case frame.KindPart:
		var p frame.Part
		if err := p.Read(f); err != nil {
			return err
		}
		return t.part(&p)
	case frame.KindPacked:
		return t.unpack(f, t.do)
	case frame.KindGap:
		return with(f, &t.last.gap, t.link.misses)
	case frame.KindBye:
		return with(f, &t.last.bye, t.link.ends)
	case frame.KindAck:
		var a frame.Ack
		if err := a.Read(f); err != nil {
			return err
		}
		return t.acknowledged(&a)
	}
	return nil
}

// frames are where frames are read: they don't escape then.
type frames struct {
	fail    frame.Fail
	cancel  frame.Cancel
	method  frame.Method
	ref     frame.Ref
	hold    frame.Hold
	resume  frame.Resume
	watch   frame.Watch
	unwatch frame.Unwatch
	command frame.Command
	gone    frame.Gone
	gap     frame.Gap
	bye     frame.Bye
}

// with reads a frame and does what it says. Those of calls have their own lines, as they are short.
func with[F any, P interface {
	*F
	Read(frame.Raw) error
}](f frame.Raw, into P, do func(*F) error) error {
	if err := into.Read(f); err != nil {
		return err
	}
	return do(into)
}

func (t *track) acknowledged(a *frame.Ack) error {
	if err := t.out.Acknowledge(a.Position); err != nil {
		return err
	}
	t.parcels.acknowledged(a.Position)
	t.settle()
	return nil
}

// resumed says that a connection is there, at whose other end a position was read.
func (t *track) resumed(position uint64) {
	t.parcels.acknowledged(position)
	if t.began || t.link.wrote > 0 { // or nothing was ever sent
		t.settle()
	}
}

// learn is METHOD.
func (t *track) learn(m *frame.Method) error {
	if m.Number != uint64(len(t.theirs)+1) || len(t.theirs) >= methodsMax {
		return errMethod
	}
	f := t.methods.translate(m)
	t.theirs = append(t.theirs, f)
	if f.method == nil {
		return nil
	}
	mine := &t.byMine[f.method.number-1]
	if *mine != nil {
		return errMethod // twice
	}
	*mine = f
	return nil
}

// methodsMax is how many methods the other end may declare.
const methodsMax = 1 << 16

// foreignOf returns what reads the replies of a method of this node.
func (t *track) foreignOf(m *method) *foreign { return t.byMine[m.number-1] }

func (t *track) watches(to uint64, is bool) error {
	r, err := t.ref(to)
	if err == nil {
		r.watch(is)
	}
	return err
}

func (t *track) command(c *frame.Command) error {
	r, err := t.ref(c.To)
	if err == nil {
		r.does(c.Code)
	}
	return err
}

// giveUp ends the track, because of err: asks that are away end, notices that the other end has not
// acknowledged are dead letters, watchers hear that their actors are lost.
func (t *track) giveUp(err error) {
	if t.over != nil {
		return
	}
	t.over = lostBy(err, false)
	left := t.out.Left()
	t.loseAsks(err, left.Written)
	t.loseNotices(left)
	t.out.End()
	t.debts, t.answers = debts{}, debts{}
	for _, r := range t.standIns {
		t.w.Vanish(r.house, t.over)
	}
	t.loseServed()
	if t.conn != nil {
		t.conn.track = nil
		t.conn = nil
	}
	t.link.wrote += t.wrote
	t.link.got += t.got
	// who keeps an address of the session keeps its stand-in, and by that the track
	t.standIns, t.unused, t.starved, t.fed, t.slots, t.free = nil, nil, nil, nil, nil, nil
	t.refs, t.theirs, t.byMine = nil, nil, nil
}

// loseNotices tells of notices that the other end may not have got.
func (t *track) loseNotices(left session.Left) {
	t.names.mine = true
	defer func() { t.names.mine = false }()
	for at := left.Acknowledged; at < left.End; {
		kept := t.out.Kept(at)
		for len(kept) > 0 {
			f, n, err := frame.Next(kept)
			if n == 0 || err != nil {
				panic("cluster: a stream that isn't of frames")
			}
			t.loseThose(f)
			kept, at = kept[n:], at+uint64(n)
		}
	}
	for _, p := range append(t.parcels.sent, t.parcels.out...) {
		if f, err := frame.Long(p.frame); err == nil {
			t.loseThose(f)
		}
	}
	t.parcels = parcels{}
}

// loseThose tells of the notices of a frame; it may be of another kind.
func (t *track) loseThose(f frame.Raw) {
	var one frame.Tell
	var all frame.Tells
	switch {
	case f.Kind == frame.KindTell && one.Read(f) == nil:
		t.loseNotice(one.To, one.Method, one.Message)
	case f.Kind == frame.KindTells && all.Read(f) == nil:
		for text, ok := all.Take(); ok; text, ok = all.Take() {
			t.loseNotice(all.To, all.Method, text)
		}
	case f.Kind == frame.KindPacked:
		t.unpack(f, func(f frame.Raw) error { t.loseThose(f); return nil })
	}
}

func (t *track) loseNotice(to, method uint64, text []byte) {
	by := t.methods.all[method-1]
	t.lose(t.standIns[to].house, by, by.request.Decoder(), text, lost.Stopped)
}
