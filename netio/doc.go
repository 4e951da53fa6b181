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
// collection never waits for it. Reads, writes and accepts on non-blocking
// sockets skip the scheduler too. They must not be used on blocking
// descriptors: the processor would be lost to all other goroutines.
//
// The calls report what did not happen by sentinels: io.EOF, ErrAgain (it
// would block), ErrDescriptors (none left). Other failures are unix.Errno
// values, such as unix.ECONNRESET. Neither success nor failure allocates, except in
// the calls that handle addresses: Listen, Connect, ConnectError, LocalAddr and
// RemoteAddr.
//
// The contract and the slot table are in portable files, the system calls in
// one file per operating system beside them. Linux 4.5 or later is needed;
// from 5.11 on Wait is precise to the nanosecond rather than to the millisecond.
package netio
