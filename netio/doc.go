// Package netio is the seam to the operating system's network: a poller that
// tells which descriptors are ready, and the few socket calls that a worker
// makes on them. It knows nothing of actors, channels or buffers.
//
// A Poller belongs to one worker; others may call only Wake. Every descriptor is registered once,
// with a Handler, and its registration is never modified. Events are edge-triggered: a handler is
// called when something has changed, not for as long as the change lasts. So a handler that is told
// "readable" reads until ErrAgain, or remembers that there may be more bytes. Listeners are the
// exception (AddLevel): they are level-triggered and exclusive, so that several workers can share
// one listening descriptor without all of them waking up for each connection.
//
// Registering returns a Token made of a slot and its generation. The token travels through the
// kernel with every event. When a descriptor is removed its slot's generation is raised. An event
// fetched before that and delivered later then has a stale token and is dropped, even if the slot,
// or the descriptor's number, already has a new owner.
//
// There are two ways to look for events. Poll never blocks and therefore skips the Go scheduler,
// which saves a third of the system call's time. Wait may block, so the Go runtime is told of its
// system call, and a garbage collection never waits for it. Wait only fetches events, Deliver calls
// the handlers. Reads, writes and accepts on non-blocking sockets skip the scheduler too. They must
// not be used on blocking descriptors: other goroutines couldn't use the processor meanwhile.
//
// A Poller belongs to a network: the machine's, as a rule, or a World that takes its place in a
// simulation. Whoever has a poller makes its socket calls by the poller's methods. Functions of the
// same names make them on the machine's network.
//
// Sentinel errors are io.EOF, ErrAgain (the call would block) and ErrDescriptors (none left). Other
// failures are syscall.Errno values, such as syscall.ECONNRESET. Neither success nor failure
// allocates, except in the calls that handle addresses: Listen, Connect, ConnectError, LocalAddr
// and RemoteAddr.
//
// The contract and the slot table are in files without a system in their names: the contract's
// lists stand at the top of poller.go and socket.go. On Linux epoll and system calls fulfil it.
// Version 4.5 or later is needed; from 5.11 on the limit of Wait is in nanoseconds rather than
// milliseconds.
//
// # Other systems
//
// On other systems, and on Linux with the build tag "portable", goroutines over package net fulfil
// the contract. That is for development: correct and bounded, not fast. The same tests run over
// both. The differences:
//
//   - A descriptor is a number of this package's, not the system's.
//   - Calls allocate, and a connection has a goroutine and a buffer of its own.
//   - A connection reads ahead, by at most 64 KiB; a listener accepts ahead, at most 128
//     connections or its Backlog, besides those that the system queues. So ErrAgain means
//     that nothing has arrived here; Settle waits for what has arrived at the system.
//   - Write takes at most 64 KiB that the peer has not taken; a failure is told by an event
//     and a later call. Close sends bytes that were written, in at most 5 s for every 16 KiB,
//     and then reads for a second what the peer still sends, so that no reset overtakes
//     the last bytes. The poller's Close waits for the sending.
//   - If unread bytes of a peer fill the buffer, its end or failure is told only after some
//     of them were read. A peer that has ended its side is probed 20 times a second, because
//     nothing else would tell that it is gone.
//   - CanShare is false. Several pollers that wait for one listener are all woken.
//   - The abstract name space of Unix sockets is Linux's alone.
package netio
