// Package channel serves network connections by actors: a [Server] accepts, reads,
// decodes, hands each request to a step of the actor that owns the connection, and
// writes the results in the order of the requests.
//
// The actor is called a front; there is one on each worker that takes part. Its handler is a step
// like any other, in a stack that embeds core.ChannelStack: it may answer at once, or ask other
// actors, suspend and answer later. Requests of one connection are handled side by side. Their
// first steps run in the order of arrival; what these send reaches other actors in that order too.
// Results leave in that order whenever they are complete, so pipelining costs a server nothing.
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
// then that decides. So one client's bad request doesn't end those of others.
//
// # States
//
//	open      reads, decodes, answers
//	leaving   the server drains: answers what had arrived
//	refusing  the client sent what can't be decoded: it is told after its results
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
// way; the kernel then slows the client down. While there are that many bytes, its requests that
// were read already don't begin either. So one connection holds that output, one result more, and
// the results of requests that had begun. A result counts with the bytes of its stack: Bytes, Copy,
// and the answers of its futures. Received bytes take up to four times as much memory, and 2 KiB.
//
// Received bytes that aren't answered are bounded for all connections together, by
// Config.InputMax. When that is used up a connection is read 1 KiB at a time, and only if it has
// nothing else: small requests are served whoever has used up the rest. Longer ones are read one
// after the other, each until it is answered. If others wait 32 KiB of it must come in a second, or
// it is refused; and where the answer takes longer than Config.RequestTimeout the next one is read.
// An unfinished request then has no more time than that, however long it is. So all connections of
// a front hold its share of InputMax, one request more, and 1 KiB each, as long as answers don't
// take so long. Where a codec is Gated, strangers have an eighth of InputMax of their own instead,
// in the same way: they keep only each other waiting. What an actor keeps of a request isn't
// counted, nor are other bytes in the slab of one in flight.
//
// A client that takes nothing for Config.WriteTimeout loses its connection. So does one that asks
// for nothing for Config.IdleTimeout, or leaves a request unfinished for Config.RequestTimeout. An
// idle connection holds no buffer. When descriptors are used up the listeners pause; that, and each
// connection beyond Config.ConnsMax, is logged as a warning and counted.
//
// A front that is paused or held begins no request, but results of those in flight are written.
//
// # Results in parts
//
// A result that is long may come in parts: a step offers one by Part, an ask that is answered when
// the part was written and there is room for more. Until then the request doesn't count in
// Config.RequestsMax; then it does, even if that is used up. An empty part waits until all requests
// before it are answered.
//
// # Lifetime of bytes
//
// A request may refer to the bytes that it was decoded from, for as long as its
// stack lives: until its result is encoded. For a message to another actor it is
// asked to Keep them, which raises a count. A reply's bytes must live as long as the
// stack too: those of the request, of Bytes and Copy, and of the answers of its futures do.
package channel
