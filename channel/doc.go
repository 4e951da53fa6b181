// Package channel connects actors and the network. A [Server] accepts, reads, decodes, hands each
// request to a step of the actor that owns the connection, and writes the results in the order of
// the requests, or by number. A [Client] is the other side: a port that actors ask, with
// connections behind it.
//
// # Servers
//
// The actor is called a front; there is one on each worker that takes part. Its handler is a step
// like any other, in a stack that embeds core.ChannelStack: it may answer at once, or ask other
// actors, suspend and answer later. Requests of one connection are handled side by side. Their
// first steps run in the order of arrival, and messages that these steps send reach other actors in
// that order. Results are written in that order too, whichever is complete first: clients may
// pipeline. If the protocol names in each result the request that it answers, its codec is
// [Unordered], and results are written as they are complete. A codec that is [Alone] says which
// requests begin when all before them are answered, and keep those behind them waiting.
//
// # Codec
//
// A [Codec] is a pair of pure functions with the state of one connection: bytes in, a request out;
// a result in, bytes out. It does no I/O, holds no bytes between calls, and says how many it needs.
// It has limits of its own, against which it must check an announced length before it asks for so
// many bytes. A panic of a codec closes its connection only.
//
// A panic of a request's handler is the result of that request, a *core.PanicError, and an event,
// core.Failure. The front goes on with its other requests, so that one client's bad request doesn't
// end those of others; unless it was spawned with Props.OnFailure, which then decides.
//
// # States
//
//	open      reads, decodes, answers
//	leaving   the server drains: answers what had arrived
//	half      the client has ended its side, and the actor was told, see Handler.WithEnded: as
//	          open, but nothing comes
//	refusing  the client sent what can't be decoded, or too slowly: it is told after its results
//	ending    takes nothing more in; lingers when all is answered and sent. A client that
//	          has ended its side of the connection still gets its results
//	changing  behind the result that upgrades it, until nothing is in flight
//	deaf      requests in flight are cancelled; results that were encoded are still sent
//	lingering has ended its sending side; drops what comes until the client ends its own, for 2 s
//	          at most, so that what was sent arrives
//	closed
//
// A connection belongs to the worker of its front, and so do its requests: all its work is done in
// turns of that front's house, one thing at a time. When the client breaks the connection, when the
// server cuts it off, and when the front stops, requests in flight are cancelled: an actor that
// they asked sees a cancelled ask.
//
// # Backpressure
//
// A connection isn't read while Config.InflightMax of its requests are in flight, Config.OutputMax
// bytes of its results wait for the client or for earlier results, or Config.RequestsMax requests
// of the server are without a result; the kernel then slows the client down. While OutputMax bytes
// wait, requests that were read don't begin either. So one connection holds OutputMax bytes of
// results, one result more, and the results of requests that had begun; and OutputMax bytes of
// messages to its Peer, and one message more, which keep it from nothing. A result counts with the
// bytes of its stack: Bytes, Copy, and the answers of its futures. Received bytes take up to four
// times as much memory, and 2 KiB.
//
// The default of Config.RequestsMax keeps fronts from filling an actor's mailbox of the system's
// usual bound, house.Config.MailboxMax. If fronts ask an actor with another bound, set RequestsMax
// to match: then no request fails because of a full mailbox.
//
// Received bytes that aren't answered are bounded for all connections together, by Config.InputMax.
// When that is used up a connection is read 1 KiB at a time, and only if it holds no other bytes:
// small requests are served whoever has used up the rest. Longer ones are read one after the other,
// each until it is answered. While others wait, 32 KiB of that request must come in a second, or it
// is refused; and if its answer takes longer than Config.RequestTimeout the next request is read.
// However long it is, an unfinished request then has only RequestTimeout. So all connections of a
// front hold its share of InputMax, one request more, and 1 KiB each, unless answers take longer
// than RequestTimeout. Where a codec is Gated, strangers have an eighth of InputMax of their own,
// with the same rules: they keep only each other waiting. Bytes that an actor keeps aren't counted,
// nor are other bytes in the slab of a request in flight.
//
// A client loses its connection if it takes nothing for Config.WriteTimeout, asks for nothing for
// Config.IdleTimeout, or leaves a request unfinished for Config.RequestTimeout. An idle connection
// holds no buffer. When descriptors are used up the listeners pause; that, and each connection
// beyond Config.ConnsMax, is logged as a warning and counted.
//
// A front that is paused or held begins no request, but results of those in flight are written.
//
// # Results in parts
//
// A long result may come in parts: a step offers each by Part, an ask that is answered when the
// part was written and there is room for more. While that ask waits the request doesn't count in
// Config.RequestsMax; afterwards it does, even beyond the bound. An empty part waits until all
// requests before it are answered.
//
// # Requests in parts
//
// A long request, such as an upload, may come in parts. The codec decodes each as a request of its
// own, as much of it as has come, and is [Alone] of them. A part's step hands the part on, by an
// ask, and suspends: until it has returned no other part is decoded, and no more is read than one
// read brings. So suspending is the backpressure, and the client's window does the rest. No
// RequestTimeout runs meanwhile, and nothing is refused. For all parts but the last, Encode appends
// nothing: the result says which these are, or the codec knows it, if all of its requests are Alone
// as in the example there. A step that needs what was before it keeps that in an object that the
// codec makes for each upload, to which the parts refer.
//
// # Stages
//
// Between the socket of a connection and its codec there may be stages, see package stage and
// Config.Stages: they change the bytes on their way, or keep the connection from reading or sending
// for a while. An error of a stage ends its connection, with requests in flight; what the stages
// have sent down is still written. While a stage holds sending, results up to OutputMax wait.
//
// # Other protocols on the same connection
//
// Upgrade, in a step of a request, has its connection speak another [Protocol] from the result on,
// with other types and perhaps another handler of the same actor.
//
// # Messages that answer nothing
//
// ChannelStack.Peer is the connection that a request came by: a [Peer], which may be kept, compared
// and sent to other actors, on any worker. Peer.Notice sends it a message at any time, in order
// with the results and with what was sent before; never between the parts of one result. Beyond
// Config.OutputMax bytes that wait for the client it fails. Peer.Ask waits for room instead, and is
// answered when the system has taken the message: so an actor that waits for that sends no faster
// than the client reads. Peer.Close closes the connection behind all of them.
//
// By Handler.WithOpened and WithClosed a front hears of its connections' begin and end, and by
// WithEnded that a client has ended its side alone; Peer.End does so on this side. Any actor hears
// of the end of one by [Watch]. An [Audience] is many connections that hear the same, which
// is encoded once.
//
// # Connections of an actor's own
//
// Connect, in a step, opens a connection to another process, and answers with its Peer. Bind, in a
// step, opens a listener, and answers with that. What comes by such connections is served by a
// Handler of the same actor, on its worker, as a server's requests are, and what the actor has to
// say it sends by the Peer. They have the limits of a server's. Listener and connections end with
// the actor's instance: when it stops, and before a restart makes the next one. An actor that
// drains ends when its calls have, though connections stand; what is answered by then is sent as
// far as their sockets take it at once.
//
// # Clients
//
// Dial makes a Client. Its Port is asked like an actor's: the request goes out over a connection of
// the asker's own worker, behind others that have no reply yet, and the future is answered when the
// reply has come. A [ClientCodec] says what requests and replies look like, and whether replies
// come in order.
//
// An ask ends with its reply, with an error that the server replied, or because it can't be known
// what the server did: core.ErrLost. If no byte of a request was written the error is
// core.ErrNotSent: asking again does nothing twice. Everything has a bound: requests in flight and
// waiting, bytes unsent, how long a connect, a reply and silence may last, and how often a server
// that doesn't answer is tried.
//
// # Lifetime of bytes
//
// A request may refer to the bytes that it was decoded from, for as long as its stack lives: until
// its result is encoded. Asks may refer to them: the actor that is asked may read them until it has
// answered, even if the client has gone. For a notice, or for an actor that keeps them, a step
// calls Keep, which raises a count. A reply's bytes must live as long as the stack too: the bytes
// of the request, of Bytes and Copy, and of the answers of its futures do.
package channel
