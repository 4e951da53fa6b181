package session

// What is what the owner of a link is to do.
type What uint8

// The duties. A connection is given by its number.
const (
	None      What = iota
	Dial           // dial a connection for the track; say Dialled or Failed
	SendHello      // send HELLO over the connection, for Session, with Incoming.Begin
	Correct        // send HELLO, for Session and position 0, before the Close that follows
	Resume         // frames may go out from Position on, see Outgoing.Resume
	SendPing       // send a PING that asks
	Close          // close the connection, or give the dial up. Nothing need be said of it any more
	GiveUp         // the session is over, no track is wanted: end its streams, make new ones
)

// Duty is something that the owner of a link is to do.
type Duty struct {
	What     What
	Reason   Reason // of GiveUp
	Track    int    // of all others
	Conn     uint64 // of the same
	Session  uint64 // of SendHello and Correct
	Position uint64 // of Resume: how far the other end has read
}

// Next returns the next duty; None if nothing is left to do. Duties are done in their order. Events
// may come in between: then those of connections that are over are passed over.
//
//alloc:none
func (l *Link) Next() Duty {
	if l.done == len(l.duties) {
		l.duties, l.done = l.duties[:0], 0
		return Duty{}
	}
	l.done++
	return l.duties[l.done-1]
}

func (l *Link) duty(d Duty) { l.duties = append(l.duties, d) }
