package stack

import (
	"context"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/turns"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// A goroutine may wait for room in a mailbox. What stands for it is a Call without an ask, on a
// chain of the house:
//
//	wait    push the call onto the chain, set flags.Awaited, look; block until its signal, or
//	        until the context ends
//	give up mark the call, and sweep: take the chain, put who is marked, push the others, set
//	        flags.Awaited, look
//	look    if the mailbox is half empty: clear flags.Awaited, take the chain, and signal each.
//	        Who takes off what others see waiting looks if the flag is set (House.count). When
//	        an actor has stopped, all that waits is taken off
//
// Whoever comes second, with the flag or with the number, sees the other. That half must be empty
// has a wake-up, which takes as long as handling a few hundred messages, let in as many. Who was
// signalled tries again, and may find that others came first.

// waitForRoom blocks until there may be room in h, or ctx ends.
//
//go:noinline
func (g *Guests) waitForRoom(ctx context.Context, h *House) error {
	if err := ctx.Err(); err != nil {
		return fault.OfContext(err)
	}
	if turns.Running() {
		return fault.ErrBlockingOnWorker
	}
	c := g.signal()
	h.awaits(c)
	invariant.Point("room.flag")
	h.flags.Set(flags.Awaited)
	h.admit()
	err := g.blame(c.cell.Block(ctx, 0))
	invariant.Point("room.gone")
	if err != nil && c.cell.Leave() {
		h.sweep()
		return err
	}
	if err != nil {
		c.cell.Take()
	}
	g.Pools.Put(&c.Object)
	return nil
}

// awaits pushes c onto the chain.
func (h *House) awaits(c *Call) {
	for a := h.rooms(); ; {
		invariant.Point("room.wait")
		old := a.await.Load()
		c.house.rungNext = old
		if a.await.CompareAndSwap(old, &c.house) {
			return
		}
	}
}

// sweep puts those on the chain that have given up: as long as there is no room nobody else does.
func (h *House) sweep() {
	invariant.Point("room.sweep")
	for at := h.rooms().await.Swap(nil); at != nil; {
		c := callOf(at)
		at = at.rungNext
		if c.cell.Gone() {
			c.house.rungNext = nil
			pool.Send(&c.Object)
		} else {
			h.awaits(c)
		}
	}
	invariant.Point("room.swept")
	h.flags.Set(flags.Awaited) // again, if it was cleared while they were off the chain
	h.admit()
}

// admit signals who waits for room in h, if there is some. Any goroutine may call it.
//
//go:noinline
func (h *House) admit() {
	invariant.Point("room.look")
	bits := h.flags.Now()
	if bits&flags.Awaited == 0 {
		return
	}
	if bound, _ := h.rules(); bits.Calls() > bound/2 {
		return
	}
	invariant.Point("room.clear")
	h.flags.Clear(flags.Awaited)
	invariant.Point("room.take")
	for at := h.annex.Load().await.Swap(nil); at != nil; {
		c := callOf(at)
		at, c.house.rungNext = at.rungNext, nil // first: behind its signal it is the guest's
		if !c.cell.Finish() {
			pool.Send(&c.Object)
		}
	}
}

// count adds n to what others see.
func (h *House) count(n int) {
	if n != 0 {
		h.point("mail.count")
		if h.flags.Add(n)&flags.Awaited != 0 {
			h.admit()
		}
	}
}

// reserve counts a call that a guest is about to push, if there is room for it and the actor
// hasn't stopped.
func (h *House) reserve() bool {
	h.point("mail.look")
	if !h.takes(h.flags.Now(), 1) {
		return false // without a write: refusals are cheap
	}
	h.point("mail.reserve")
	if !h.takes(h.flags.Add(1), 0) {
		h.point("mail.back")
		h.count(-1) // others came first
		return false
	}
	return true
}
