package stack

import (
	"context"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/turns"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// A goroutine may wait for room in a mailbox. It waits by a Call without an ask, which stands on a
// chain of the house, annex.await:
//
//	wait    push the call onto the chain, set flags.Awaited, look; block until its signal, or
//	        until the context ends
//	give up mark the call as gone, and sweep: take the chain, put the calls that are gone, push
//	        the others, set flags.Awaited, look
//	look    if the mailbox is half empty, clear flags.Awaited, take the chain, and signal each.
//	        Whoever changes the number that others see looks, if the flag is set (House.count).
//	        After a stop all waiting calls are taken off that number
//
// One side writes the flag, the other the number; the one that comes second sees the other's write.
// A wake-up takes as long as handling a few hundred messages. Half of the mailbox must be empty so
// that it lets in many. A goroutine that was signalled tries again, and may find that others came
// first.

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
	err := g.blame(g.Await.Block(&c.cell, ctx, 0))
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

// awaits pushes c onto the chain of calls that wait for room.
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

// sweep puts the calls on the chain whose goroutines have given up. Otherwise they would stay there
// as long as there is no room.
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

// admit signals all goroutines that wait for room in h, if half of the mailbox is empty. Any
// goroutine may call it.
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
		at, c.house.rungNext = at.rungNext, nil // before its signal: then c is the guest's
		if !c.cell.Finish() {
			pool.Send(&c.Object)
		}
	}
}

// count adds n to the number of calls that others see.
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
