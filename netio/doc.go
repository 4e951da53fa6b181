// Package netio is the seam to the operating system's network: a poller that
// tells which descriptors are ready, and the few socket calls that a worker
// makes on them. It knows nothing of actors, channels or buffers.
//
// A Poller belongs to one worker; only Wake may be called by others. Every
// descriptor is registered once, with a Handler, and is never modified after
// that. Events are edge-triggered: a handler is told when something changed,
// not for as long as it lasts, so whoever is told "readable" reads until
// ErrAgain, or remembers that there may be more. Listeners are the exception
// (AddLevel): they are level-triggered and exclusive, so that several workers
// can share one listening descriptor without all of them waking up for
// each connection.
//
// Registering returns a Token made of a slot and its generation. The token
// travels through the kernel with every event. When a descriptor is removed
// its slot's generation is raised, so an event that was fetched before and is
// handled after finds a stale token and is dropped, even if the slot, or the
// descriptor's number, already has a new owner.
//
// Two ways to look for events: Poll never blocks and therefore skips the Go
// scheduler, which saves a third of such a system call; Wait may block, so
// it goes through a call that the Go runtime knows of, and a garbage
// collection never waits for it. Wait only fetches, Deliver calls the handlers.
// Reads, writes and accepts on non-blocking sockets skip the scheduler too. They
// must not be used on blocking descriptors: the processor would be lost to all
// other goroutines.
//
// The calls report what did not happen by sentinels: io.EOF, ErrAgain (it
// would block), ErrDescriptors (none left). Other failures are syscall.Errno
// values, such as syscall.ECONNRESET. Neither success nor failure allocates, except in
// the calls that handle addresses: Listen, Connect, ConnectError, LocalAddr and
// RemoteAddr.
//
// The contract and the slot table are in files without a system in their names:
// the lists stand at the top of poller.go and socket.go. Linux has it from epoll and
// system calls, and needs version 4.5 or later; from 5.11 on Wait is precise to the
// nanosecond rather than to the millisecond.
//
// # Other systems
//
// Elsewhere, and on Linux with the build tag "portable", goroutines do it over
// package net. It is for development: right and bounded, not fast. The same
// tests run over both. What differs:
//
//   - A descriptor is a number of this package's, not the system's.
//   - It allocates, and a connection has a goroutine and a buffer of its own.
//   - A connection reads ahead, by at most 64 KiB; a listener accepts ahead, at most 128
//     connections or its Backlog, besides those that the system queues. So ErrAgain means
//     that nothing has arrived here; Settle waits for what has arrived at the system.
//   - Write takes at most 64 KiB that the peer has not taken; a failure is told by an event
//     and a later call. Close sends what was written, in at most 5 s for every 16 KiB,
//     and then reads for a second what the peer still sends, so that no reset overtakes
//     the last bytes. The poller's Close waits for the sending.
//   - The end or the failure of a peer whose bytes fill the buffer is told when some of
//     them were read. A peer that has ended its side is tried 20 times a second, because
//     nothing else would tell that it is gone.
//   - CanShare is false. Several pollers that wait for one listener are all woken.
//   - The abstract name space of Unix sockets is Linux's alone.
package netio
