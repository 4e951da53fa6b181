// Package core is what the code of actors imports.
//
// An actor is a struct of yours; one thread at a time runs it. A message is a plain struct. A
// handler is a method that takes a stack, the message in progress: it returns, or it asks others
// and suspends until they have answered.
//
//	type Cache struct{ disk core.Port[Read, Block] }
//
//	var CacheGet = core.Handle((*Cache).get) // what others may ask of a Cache
//
//	type getStack struct { // one Get in progress
//		core.AskStack[Get, Value]
//		block core.Future[Block] // fields survive a wait
//	}
//
//	func (c *Cache) get(s *getStack) core.Yield {
//		c.disk.Ask(s, &s.block, Read{Page: s.Req.Key >> 4})
//		return core.Suspend(s, (*Cache).gotBlock)
//	}
//
//	func (c *Cache) gotBlock(s *getStack) core.Yield {
//		b, err := s.block.Get()
//		if err != nil {
//			return s.Throw(err)
//		}
//		return s.Return(Value{N: b.Sum})
//	}
//
// While a stack is suspended its actor handles other messages: what must hold across a wait belongs
// in the stack, not in the actor. If its asker gives up meanwhile (it ends, or its context does),
// the stack ends with [ErrCancelled] in a turn soon after, and its own asks are given up in the
// same way. The asks of a stack inherit its asker's deadline. When that passes, the stack may still
// run first, with [ErrTimeout] in its futures, and its reply may come too late for the asker.
//
// [Spawn] makes an actor from a factory and returns its [Address]. A handler At an address is a
// [Port], which steps ask with Port.Ask and other goroutines ("guests") with [Ask]. Notices,
// messages without an answer, have [HandleNotice], [NoticePort], [Notice], and [NoticeWait], which
// waits for room in a mailbox. A fan-out is an array of futures, a loop of asks and one Suspend;
// [SuspendAny] and [SuspendUntil] go on before all have answered. [Timer] is a port. [Offload] runs
// functions that block, [OffloadTo] within limits, [OffloadKept] to their end even if their asker
// gives up. A [Breaker] stops asking what fails. [Shutdown] ends the system.
//
// Actors that send each other many messages belong on one worker: [Beside], [Address.Beside].
// [Replicate] puts one actor on each worker, and a [Group] is actors that come and go. A router is
// a port at which all of them stand: Handler.Local, RoundRobin, Random, ByKey, LeastQueued,
// Broadcast and First, and their kin of NoticeHandler.
//
// A [Topic] tells its subscribers of events: actors, and goroutines by a channel. [Events] are the
// topics on which a system tells of itself: starts and stops, failures, slow steps, and notices
// that nobody handled.
//
// Rules: a step never blocks; a function of this package that would block fails in a step, with
// [ErrBlockingOnWorker]. Nor does it wait in place, by a channel or a loop, for what another step
// does, on whichever worker: that one may have to run on the same thread. Bytes in a request or a
// reply live as long as the stack that carries them, also if the asker has ended before; a reply's
// bytes come from s.Bytes or s.Copy.
// An answer is readable until its future is asked again or its stack ends. A panic ends its stack
// with [ErrPanic], and is a failure of the actor.
//
// [SpawnWith] takes [Props]: a name, by which [Lookup] finds the actor at a path (see [ParsePath]);
// a [Strategy] for failures, by default a new instance from the factory, while asks in progress end
// with [ErrRestarted]; a [Mailbox]; and when to passivate. [Under] makes a child. An actor that is
// a [Starter], [Stopper], [PreRestarter] or [PostRestarter] has hooks. [Watch] tells of another
// actor's end. [Stash] puts a call back; [Middleware] is called around calls; [Schedules] sends
// notices at set times.
//
// [NewMethod] makes a contract: the name and the types of an ask, apart from any actor. A handler
// is As a method, and a method At an [AnyAddress] is a port.
//
// Nothing here allocates per message in steady state.
package core
