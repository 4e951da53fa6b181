//go:build !portable

package netio

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// bell is an eventfd that may be closed while other threads ring it: the last of them to leave
// closes it, so that none writes into a recycled descriptor.
type bell struct {
	fd int
	// users is the number of rings in progress, plus bellClosed once close was called, plus
	// bellGone once a thread has taken on closing the descriptor.
	users atomic.Uint32
}

const (
	bellClosed = 1 << 31
	bellGone   = 1 << 30
)

var ringOnce uint64 = 1 // what a ring adds to the eventfd's counter; never written

//alloc:none
func (b *bell) ring() {
	if b.enter() {
		write8(b.fd, &ringOnce)
	}
	b.exit()
}

func (b *bell) enter() bool { return b.users.Add(1)&bellClosed == 0 }

func (b *bell) exit() {
	if b.users.Add(^uint32(0)) == bellClosed {
		b.free()
	}
}

func (b *bell) close() {
	if b.users.Or(bellClosed) == 0 {
		b.free()
	}
}

// free closes the descriptor, unless another caller does: a late ring makes users equal to
// bellClosed a second time.
//
//go:noinline
func (b *bell) free() {
	if b.users.CompareAndSwap(bellClosed, bellClosed|bellGone) {
		unix.Close(b.fd)
	}
}
