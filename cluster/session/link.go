package session

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
)

// Link is the life of the sessions between this node and one other, as a machine that does nothing
// itself: it takes events and returns duties, one at a time, for its owner to do. It has at most
// one session at a time, and in that at most one connection for each track, which is
//
//	Down      there is none. Needed, see below, and not too soon after the last -> Dialling. A HELLO
//	          that was accepted -> Up
//	Dialling  it is being dialled. Dialled -> Greeting; Failed -> Down. A HELLO that was accepted
//	          comes first: the dial is given up -> Up, by that connection
//	Greeting  it was dialled here, and HELLO sent. Its HELLO comes -> Up. Lost, silent for too
//	          long, or a HELLO that is refused -> Down. A HELLO that was accepted: see below
//	Up        both HELLOs came, frames pass. Lost, or silent for too long -> Down. None is wanted,
//	          and all are unused for long: closed -> Down. A HELLO that was accepted is refused
//
// and from each of them a session that is given up leads to Down. Two dials at once: whoever has
// sent no HELLO takes the other's connection. If both have, the lower node (by name, then
// incarnation) refuses the other's, and the higher takes the lower's and closes its own. So both
// never close both, and neither has two.
//
// A session is given up for one of four [Reason]s, and its streams are over. If any HELLO had come
// in it then its number is used up: HELLOs of that session are refused for ever, and the next one
// has a higher number. If none had come, no frame was sent, and the number is still good. One
// session is never two: a number means the same streams at both ends.
//
// A session has as many tracks as the end that allows fewer. Where none is Up, whichever is wanted,
// track 0 is dialled: by its HELLO both learn how many there are, and whether the other's life is
// the same. While any is Up the others are needed, too, whoever wants them: the other end may be
// unable to dial. All are closed together, also one that is Dialling or Greeting.
//
// A HELLO is refused if it is not from the other node, if it is from an earlier incarnation or
// one that is dead, from an earlier session, for a track that there isn't, or with another number
// of tracks than before. Who dials for an earlier session is told the number of this one, by a
// HELLO: it may have nothing else to learn it from. A later incarnation, or a later session, ends
// the one that there is. A position that can't be is found by [Outgoing.Resume]: the owner says
// Broken.
//
// Times are ns on the clock of the owner, a worker's; it never goes back.
// MakeLink makes it. After each event its owner does the duties that Next returns.
type Link struct {
	self, peer Node
	timing     Timing
	dead       bool   // the peer's incarnation is dead, and so are earlier ones
	met        bool   // a HELLO came in this session
	session    uint64 // Invariant: 0 < session <= sessionMax + 1
	conns      uint64 // numbers of connections given so far
	tracks     []track
	agreed     int   // tracks of this session, as far as known
	used       int64 // when a track was wanted, or not any more, or a frame of a stream passed
	duties     []Duty
	done       int // how many of duties Next has returned
}

// sessionMax is the highest number of a session that a peer may choose, so that higher ones are
// left.
const sessionMax = 1 << 62

// State is where a track's connection is: see Link.
type State uint8

// The states.
const (
	Down State = iota
	Dialling
	Greeting
	Up
)

// track is the connection of a track.
type track struct {
	state    State
	wanted   bool
	conn     uint64 // number of the connection, or of the dial; 0 if Down
	session  uint64 // of Greeting: that of the HELLO that was sent
	failures int    // dials and connections since anything came behind HELLO
	retry    int64  // no dial before
	without  int64  // since when it is wanted and not Up
	lost     int64  // when it was Up last; 0: never
	heard    int64  // of Greeting and Up: when anything came
	pinged   int64  // of Up: when a PING went out
}

// Reason is why a session was given up.
type Reason uint8

// The reasons.
const (
	Unreachable Reason = iota // a track was wanted, and without a connection, for Patience
	Dead                      // the other incarnation is dead: by view, by its word, or by a later one
	Renewed                   // the other end has given it up, and opened the next one
	Broken                    // a frame came that can't be, and would come again
)

// MakeLink returns a link to a node, which is Down, and has so many tracks at most, from 1 to
// frame.TracksMax. An incarnation of the peer that isn't known is 0.
func MakeLink(self, peer Node, tracks int, timing Timing) Link {
	if self.Name == peer.Name || tracks < 1 || tracks > frame.TracksMax || timing.Check() != nil {
		panic("session: a link that makes no sense")
	}
	return Link{self: self, peer: peer, timing: timing.orDefault(), session: 1, agreed: 1,
		tracks: make([]track, tracks), duties: make([]Duty, 0, 4*tracks)}
}

// Session returns the number of the session: of this one, or of the next if there is none.
func (l *Link) Session() uint64 { return l.session }

// Peer returns the other node, with its incarnation as far as known.
func (l *Link) Peer() Node { return l.peer }

// Tracks returns how many tracks the session has: 1 until the other end has said how many it may
// have.
func (l *Link) Tracks() int { return l.agreed }

// State returns where the connection of a track is.
func (l *Link) State(track int) State { return l.tracks[track].state }

// Want says whether a track needs a connection: while frames wait, weren't acknowledged, or are to
// be answered, or a watch stands. Without it no link is dialled, and patience doesn't end. The
// track is below Tracks.
func (l *Link) Want(track int, wanted bool, now int64) {
	t := &l.tracks[track]
	if wanted && !t.wanted {
		t.without = now
	}
	t.wanted, l.used = wanted, now
	for i := range l.tracks {
		l.dial(i, now)
	}
}

// Dialled says that a dial has led to a connection.
func (l *Link) Dialled(track int, conn uint64, now int64) {
	if t := l.has(track, conn, Dialling); t != nil {
		t.state, t.heard, t.session = Greeting, now, l.session
		l.duty(Duty{What: SendHello, Track: track, Conn: conn, Session: l.session})
	}
}

// Failed says that a dial has failed.
func (l *Link) Failed(track int, conn uint64, now int64) {
	if l.has(track, conn, Dialling) != nil {
		l.down(track, now)
	}
}

// Lost says that a connection is lost, or that its owner has closed it as something came that may
// not come.
func (l *Link) Lost(track int, conn uint64, now int64) {
	if t := &l.tracks[track]; t.conn == conn && t.state >= Greeting {
		l.down(track, now)
	}
}

// Heard says that bytes came over a connection.
//
//alloc:none
func (l *Link) Heard(track int, conn uint64, now int64) {
	t := &l.tracks[track]
	if t.conn != conn {
		return
	}
	if t.heard = now; t.state == Up {
		t.failures = 0
	}
}

// Used says that frames of any track's stream were sent or came.
//
//alloc:none
func (l *Link) Used(now int64) { l.used = now }

// Greeted says that HELLO came over a connection that was dialled here. Its error is why the HELLO
// is refused; the connection is to be closed then, by a duty.
func (l *Link) Greeted(track int, conn uint64, h *frame.Hello, now int64) error {
	t := l.has(track, conn, Greeting)
	if t == nil {
		return nil
	}
	err := ErrTrack
	if h.Track == uint64(track) {
		err = l.judge(h)
	}
	switch {
	case err != nil:
		l.end(track, now)
	case t.conn != conn: // the session was given up, and its connections are closed
	case t.session != l.session: // HELLO was for one in which nothing has happened: greet again
		l.end(track, now)
		t.retry = now
		l.dial(track, now)
	default:
		l.up(track, conn, h, now)
	}
	return err
}

// Accepted says that HELLO came over a connection that the other end has dialled. It returns the
// number by which the link knows the connection from now on; or why it is refused: then the number
// is 0, and its caller closes it, or it isn't, and duties say what to do.
func (l *Link) Accepted(h *frame.Hello, now int64) (conn uint64, err error) {
	switch err = l.judge(h); {
	case err == ErrSession && h.Session < l.session: // it hears of the one that is good
		conn = l.number()
		l.duty(Duty{What: Correct, Track: int(h.Track), Conn: conn, Session: l.session})
		l.duty(Duty{What: Close, Track: int(h.Track), Conn: conn})
		return conn, err
	case err != nil:
		return 0, err
	}
	i := int(h.Track)
	t := &l.tracks[i]
	switch {
	case t.state == Up, t.state == Greeting && l.self.less(l.peer):
		return 0, ErrTaken
	case t.state != Down:
		l.duty(Duty{What: Close, Track: i, Conn: t.conn})
	}
	for i := range l.tracks {
		if t := &l.tracks[i]; t.state == Down { // the other end dials it sooner, if it can
			t.retry = max(t.retry, now+l.timing.backoff(0))
		}
	}
	conn = l.number()
	l.duty(Duty{What: SendHello, Track: i, Conn: conn, Session: l.session})
	l.up(i, conn, h, now)
	return conn, nil
}

// Broken says that a frame of the stream came over a connection that can't be: it would come again
// over the next one. The session is given up.
func (l *Link) Broken(track int, conn uint64) {
	if l.has(track, conn, Up) != nil {
		l.giveUp(Broken)
	}
}

// Died says that an incarnation of the other node is dead, by its own word. Its
// session is given up, and it is refused from now on.
func (l *Link) Died(incarnation uint64) {
	if incarnation < l.peer.Incarnation || incarnation == l.peer.Incarnation && l.dead {
		return
	}
	l.peer.Incarnation, l.dead = incarnation, true
	l.giveUp(Dead)
}

// Tick says what time it is: it is due when Wake says.
//
//alloc:none
func (l *Link) Tick(now int64) {
	for i := range l.tracks {
		if t := &l.tracks[i]; t.wanted && t.state != Up && now-t.without >= int64(l.timing.Patience) {
			l.giveUp(Unreachable)
			return
		}
	}
	unused := !l.isWanted() && now-l.used >= int64(l.timing.Unused)
	for i := range l.tracks {
		t := &l.tracks[i]
		switch {
		case t.state == Down && !unused:
			l.dial(i, now)
		case t.state == Down:
		case unused:
			l.end(i, now)
		case t.state == Dialling:
		case now-t.heard >= int64(l.timing.Reset):
			l.end(i, now)
		case t.state == Greeting:
		case now-max(t.heard, t.pinged) >= int64(l.timing.Silence):
			t.pinged = now
			l.duty(Duty{What: SendPing, Track: i, Conn: t.conn})
		}
	}
}

// Wake returns when Tick is due; ok is false if only another event can bring anything about.
//
//alloc:none
func (l *Link) Wake() (at int64, ok bool) {
	for i := range l.tracks {
		t := &l.tracks[i]
		if t.wanted && t.state != Up {
			sooner(&at, &ok, t.without+int64(l.timing.Patience))
		}
		switch t.state {
		case Down:
			if l.isNeeded(i) {
				sooner(&at, &ok, l.dialAt(i))
			}
		case Greeting:
			sooner(&at, &ok, t.heard+int64(l.timing.Reset))
		case Up:
			sooner(&at, &ok, t.heard+int64(l.timing.Reset))
			sooner(&at, &ok, max(t.heard, t.pinged)+int64(l.timing.Silence))
			if !l.isWanted() {
				sooner(&at, &ok, l.used+int64(l.timing.Unused))
			}
		}
	}
	return at, ok
}

func sooner(at *int64, ok *bool, other int64) {
	if !*ok || other < *at {
		*at, *ok = other, true
	}
}

// judge returns why a HELLO is refused, whichever connection it came over. If it isn't, the
// link has the session that it names.
func (l *Link) judge(h *frame.Hello) error {
	switch {
	case string(h.Name) != l.peer.Name:
		return ErrName
	case h.Track >= uint64(len(l.tracks)):
		return ErrTrack
	case l.met && h.Incarnation == l.peer.Incarnation && h.Session == l.session && l.lower(h) != l.agreed:
		return ErrTracks
	case h.Incarnation < l.peer.Incarnation, h.Incarnation == l.peer.Incarnation && l.dead:
		return ErrIncarnation
	case h.Session > sessionMax, h.Incarnation == l.peer.Incarnation && h.Session < l.session:
		return ErrSession
	}
	if later := h.Incarnation > l.peer.Incarnation; later || h.Session > l.session {
		switch {
		case later && l.peer.Incarnation != 0 && !l.dead: // what is to be sent is for the one before
			l.giveUp(Dead)
		case l.met:
			l.giveUp(Renewed)
		}
		l.peer.Incarnation, l.session, l.dead = h.Incarnation, h.Session, false
	}
	l.agreed = l.lower(h)
	return nil
}

// lower returns how many tracks there are with who says a HELLO.
func (l *Link) lower(h *frame.Hello) int { return int(min(h.Tracks, uint64(len(l.tracks)))) }

// giveUp ends the session, for good if anything can have happened in it. No track is wanted then,
// until Want says so again.
func (l *Link) giveUp(r Reason) {
	for i := range l.tracks {
		t := &l.tracks[i]
		if t.state != Down {
			l.duty(Duty{What: Close, Track: i, Conn: t.conn})
		}
		*t = track{}
	}
	l.agreed = 1
	if l.met {
		l.session++
		l.met = false
	}
	l.duty(Duty{What: GiveUp, Reason: r})
}

// up begins to use a connection.
func (l *Link) up(i int, conn uint64, h *frame.Hello, now int64) {
	t := &l.tracks[i]
	t.state, t.conn = Up, conn
	t.heard, t.pinged, l.used = now, now, now
	l.met = true
	l.duty(Duty{What: Resume, Track: i, Conn: conn, Position: h.Position})
}

// isWanted reports whether any track is.
func (l *Link) isWanted() bool {
	return slices.ContainsFunc(l.tracks, func(t track) bool { return t.wanted })
}

// isNeeded reports whether a track that is Down is to be dialled.
func (l *Link) isNeeded(i int) bool {
	if slices.ContainsFunc(l.tracks, func(t track) bool { return t.state == Up }) {
		return i < l.agreed
	}
	return i == 0 && l.isWanted()
}

// end closes a connection.
func (l *Link) end(i int, now int64) {
	l.duty(Duty{What: Close, Track: i, Conn: l.tracks[i].conn})
	l.down(i, now)
}

// down is after the end of a connection, or of a dial.
func (l *Link) down(i int, now int64) {
	t := &l.tracks[i]
	if t.state == Up {
		t.without, t.lost = now, now
	}
	t.state, t.conn = Down, 0
	t.retry = now + l.timing.backoff(t.failures)
	t.failures++
}

// dialAt returns when a track that is Down, and needed, is to be dialled. If none is wanted the
// other end may have closed all, of which one is heard first.
func (l *Link) dialAt(i int) int64 {
	t := &l.tracks[i]
	if t.lost == 0 || l.isWanted() {
		return t.retry
	}
	return max(t.retry, t.lost+int64(l.timing.Silence))
}

// dial begins a dial if it is time for one.
func (l *Link) dial(i int, now int64) {
	if t := &l.tracks[i]; t.state == Down && l.isNeeded(i) && now >= l.dialAt(i) {
		t.state, t.conn = Dialling, l.number()
		l.duty(Duty{What: Dial, Track: i, Conn: t.conn})
	}
}

// has returns a track if that connection is its own, and in that state: what is told of others
// comes too late.
func (l *Link) has(i int, conn uint64, s State) *track {
	if t := &l.tracks[i]; t.conn == conn && t.state == s {
		return t
	}
	return nil
}

func (l *Link) number() uint64 {
	l.conns++
	return l.conns
}

// Conns returns how many connections there were, dials among them.
func (l *Link) Conns() uint64 { return l.conns }
