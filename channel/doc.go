// Package channel serves network connections by actors: a [Server] accepts, reads,
// decodes, hands each request to a step of the actor that owns the connection, and
// writes the results in the order of the requests.
//
// The actor is called a front; there is one on each worker that takes part. Its
// handler is a step as any other, in a stack that embeds core.ChannelStack: it may
// answer at once, or ask other actors, suspend and answer later. Requests of one
// connection are handled side by side. Their first steps run in the order of
// arrival; if those send what a request has to say, other actors hear it in that
// order too. Results leave in that order whenever they are complete, so
// pipelining costs a server nothing.
//
// # Codec
//
// A [Codec] is a pair of pure functions with the state of one connection: bytes in,
// a request out; a result in, bytes out. It does no I/O, holds no bytes between
// calls, and says how much it needs. Its limits are its own business, and it must
// check an announced length against them before it asks for so many bytes. If it
// panics, that is the end of one connection.
//
// A panic of a request's handler is the result of that request, a *core.PanicError, and is told
// as a Failure. The front goes on with what it has, unless it was spawned with Props.OnFailure:
// then that decides. So no bad request of a stranger ends those of others.
//
// # States
//
//	open      reads, decodes, answers
//	leaving   the server drains: answers what had arrived
//	refusing  the client sent what can't be decoded: it is told behind its results
//	ending    takes nothing more in; lingers when all is answered and sent. A client that
//	          has ended its side of the connection still gets its results
//	deaf      what is in flight is cancelled; what was encoded is still sent
//	lingering has ended its sending side; drops what comes until the client ends its own, for 2 s
//	          at most, so that what was sent arrives
//	closed
//
// A connection belongs to the worker of its front, and so do its requests: all its
// work is done in turns of that front's house, one thing at a time. When a client
// breaks the connection, when it is closed, and when the front stops, requests in flight are
// cancelled: whom they asked sees that as any cancelled ask.
//
// # Backpressure
//
// A connection isn't read while Config.InflightMax requests wait for results, Config.OutputMax
// bytes wait for the client or for their turn, or the server has Config.RequestsMax requests under
// way; the kernel then slows the client down. Nor do requests of it begin that were read already,
// while there are that many bytes. So one connection holds that output and one result more, and
// what the requests bring that had begun. A result counts with the bytes of its stack: Bytes,
// Copy, and the answers of its futures. Received bytes take up to four times as much memory, and 2
// KiB.
//
// Received bytes that aren't answered are bounded for all connections together, by
// Config.InputMax. When those are used up a connection is read 1 KiB at a time, and only if it has
// nothing else: small requests are served whoever has used up the rest. Longer ones are read in
// turn, in the order in which they came to that, one at a time until it is answered. If others
// wait 32 KiB of it must come in a second, or it is refused; and where the answer takes longer
// than Config.RequestTimeout the next one has its turn. An unfinished request has no more time
// than that then, however long it is. So all connections of a front hold its share of
// InputMax, one request more, and 1 KiB each, as long as answers don't take so long. Where a codec
// is Gated, those who haven't shown yet that they may come in have an eighth of InputMax more, in
// the same way, in place of that: they keep nobody waiting but each other. What an actor keeps of
// a request isn't counted, nor are other bytes that keep a slab with those of one in flight.
//
// A client that takes nothing for Config.WriteTimeout loses its connection, one that asks for
// nothing for Config.IdleTimeout too, and one that lets a request wait for its end for
// Config.RequestTimeout. An idle connection holds no buffer. When descriptors are used up the
// listeners pause; that, and who is refused for Config.ConnsMax, is logged as a warning and
// counted.
//
// A front that is paused or held begins no request, but results of those in flight are written.
//
// # Results in parts
//
// A result that is long may come in parts: a step offers one by Part, an ask that is answered when
// the part was written and there is room for more. Until then the request has no part in
// Config.RequestsMax, and then it has, whatever others have. An empty part waits until all requests
// before it are answered.
//
// # Lifetime of bytes
//
// A request may refer to the bytes that it was decoded from, for as long as its
// stack lives: until its result is encoded. For a message to another actor it is
// asked to Keep them, which raises a count. A reply's bytes must live as long as the
// stack too: those of the request, of Bytes and Copy, and of the answers of its futures do.
package channel
