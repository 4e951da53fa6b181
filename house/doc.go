// Package house is where actors run: a [System] of workers.
//
// A [Worker] is one loop on a goroutine of its own. It owns houses, pools, a timing wheel and a
// poller, and nobody else touches them: messages from other workers and guests come through atomic
// chains and, if the worker is parked, one write to its eventfd. The loop is a function,
// [Worker.Turn], before it is a goroutine: with Config.Manual the caller runs the turns, and so
// package housetest simulates a system in one goroutine.
//
// One turn:
//
//	read the clock
//	give actors that have waited for long to a worker that has nothing to do
//	take what others sent
//	visit ready houses, those with answers first, up to 256 messages in all, or for
//	Config.TurnTime, and Config.Budget messages a visit
//	fire timers, look at the network, visit what these made ready
//	end what the turn put off: writes to sockets, arming of deadlines, pooled
//	objects of other workers sent home
//
// An actor is born on the worker that it is spawned on, or that of the actor beside which it is
// spawned; otherwise on each worker in turn. It may move later, between turns, if its messages wait
// for Config.ShareAfter and another worker has nothing to do; messages sent meanwhile keep their
// order. Actors that were spawned on a Worker stay there, as do those with connections.
//
// A worker with nothing to do looks again for Config.Spin, if others have sent to it a moment ago,
// then parks in its poller until it is woken or a timer is due: see Config.BusyPoll, too. A
// goroutine that asks a parked worker doesn't wake it, but runs its turns itself until the answer
// is there: see Config.WakeForGuests. A worker that the network keeps busy sleeps through network
// events for a moment: see Config.Nap. Workers are ordinary goroutines, unless Config.LockThreads
// or Config.CPUs gives them threads of their own.
//
// So a ready actor waits for a bounded time. An actor with calls only, behind k others of that
// kind, waits for at most 17k+16 visits, of which all but k are to actors with answers. An actor
// with answers, behind k others of that kind, waits for at most k+1+k/16. A visit is up to
// Config.Budget steps, or fewer if they take longer than an eighth of Config.TurnTime together.
// docs/design/turn.md has the whole formula.
//
// A step that blocks, or computes for long, holds up all actors of its worker: use core.Offload. A
// step that took longer than Config.SlowStep is logged. So are, at a limited rate, failures of
// actors, notices that nobody handled, and limits of servers that are reached. Nothing that an
// actor does ends a worker. All but the limits are events too: see core.Events; and
// System.DeadLetters counts those notices.
package house
