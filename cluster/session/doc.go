// Package session is how a link between two nodes outlives its connections, as state machines
// without I/O. Nothing here has a clock, a socket or a goroutine.
//
// Each track of a session is one stream of frames in either direction, over as many connections as
// it takes. Its positions are bytes from the start of the session. [Outgoing] keeps what was
// written until the other end says that it has read it, and sends what wasn't read over the next
// connection; [Incoming] counts what was read. So each frame is applied once, and in order, for as
// long as both ends keep the session, and no frame carries a number for it.
//
// One track over one connection, at either end:
//
//  1. The connection is there. What the one before has left unread is dropped: a frame of which a
//     part came comes again whole. Send HELLO, with Incoming.Begin.
//  2. HELLO comes: Outgoing.Resume, with its position. Nothing but HELLO is sent before.
//  3. Frames go out: Outgoing.Unsent, into the connection, then Outgoing.Sent. New ones come by
//     Outgoing.Append, as Outgoing.Room allows.
//  4. Frames come in: frame.Next, do what it says, Incoming.Applied. An ACK: Outgoing.Acknowledge.
//     If Incoming.Due, send ACK, with Incoming.Tell, between two frames.
//  5. Who hears nothing for a while sends a PING that asks. Whoever has stopped as its window is
//     full goes on by the ACK that answers, at the latest.
//
// An error of any of these is the other end's fault, and ends the session, as it would come again;
// what has happened before it stands. A session that is given up ends with Outgoing.End, which says
// what was not acknowledged. With Incoming.Position at the other end nothing is lost unheard of:
// what was delivered and what was not acknowledged are together all that was written, or more, by
// at most the window: what was delivered while its ACK never came.
//
// [Link] says when to dial, greet, ping, close and give up: the life of all that, with time as an
// argument.
//
// ACK, PING, HELLO and BYE are outside the stream: not counted, not kept, not sent again. So two
// ends whose windows are full don't wait for each other.
package session
