// Package house is where actors run: a [System] of workers.
//
// A [Worker] is one loop on a goroutine of its own. It owns houses, pools, a
// timing wheel and a poller, and nobody else touches them: messages from other
// workers and guests come through atomic chains and, if the worker is parked, one
// write to its eventfd. The loop is a function, [Worker.Turn], before it is a
// goroutine; with Config.Manual the caller runs the turns, which is how package
// housetest simulates a system in one goroutine.
//
// One turn:
//
//	read the clock
//	take what others sent
//	visit ready houses, those with answers first, up to 256 messages in all and
//	Config.Budget messages a visit
//	fire timers, look at the network, visit what these made ready
//	end what the turn put off: writes to sockets, arming of deadlines, pooled
//	objects of other workers sent home
//
// A worker with nothing to do looks again for Config.Spin, if others spoke to it a
// moment ago, then parks in its poller until somebody wakes it or a timer is due. A
// goroutine that asks a parked worker doesn't wake it but runs its turns itself until
// the answer is there, see Config.WakeForGuests. Workers are goroutines as any, unless
// Config.LockThreads or Config.CPUs gives them threads of their own.
//
// A step that blocks, or computes for long, holds up all actors of its worker:
// use core.Offload. Failures of actors are logged, at a limited rate; nothing
// that an actor does ends a worker.
package house
