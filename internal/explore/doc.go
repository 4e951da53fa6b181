// Package explore runs the code that ships through every order in which its threads
// may meet, one after the other and always the same.
//
// A scenario makes fresh state and a few threads. The threads are coroutines of one
// goroutine, so one of them runs at a time. It gives control away at scheduling points,
// which stand before each access to a word that threads share (invariant.Point, under the build
// tag explore), and where it has to wait for another thread (invariant.Await). Go's atomics are
// sequentially consistent, so for code made of atomics the orders of its
// accesses are all that can happen.
//
// [Explore] tries them depth first: it runs the scenario again and again, repeats the
// choices made so far up to the last that has an alternative, and takes that. A switch away
// from a thread that could go on is a preemption. The schedules without any come first, then those
// with one, with two, and so on up to a bound: nearly all errors need few, so what is
// found is found in its simplest form. (Musuvathi and Qadeer, Iterative context bounding for
// systematic testing of multithreaded programs, 2007.)
//
// An error is a panic, a failed check, a thread that waits for ever (a lost wake-up), or
// one that never ends. [Failure] has it as a list of points, and as choices for [Replay].
// [Prove] is all of this as a test.
//
// What it can't find: races on plain memory, as nothing switches between two accesses that no
// point separates (the race detector and invariant.Solo do), and what needs
// more threads, messages or preemptions than a scenario has.
package explore
