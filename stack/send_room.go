package stack

import (
	"context"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/turns"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/rendezvous"
)

// A goroutine may wait for room in a mailbox. It waits by a Call without an ask, whose cell stands
// in a line of the house, annex.await:
//
//	wait    join the line, set flags.Awaited, look; block until the signal, or until the context
//	        ends
//	give up mark the cell as gone, and sweep the line, which puts the calls that are gone; set
//	        flags.Awaited, look
//	look    if the mailbox is half empty, clear flags.Awaited, and signal all in the line.
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
	h.AwaitRoom(&c.cell)
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

// AwaitRoom has c finished once half of the mailbox is empty, or the actor has stopped. Any
// goroutine may call it.
func (h *House) AwaitRoom(c *rendezvous.Cell) {
	h.rooms().await.Join(c)
	invariant.Point("room.flag")
	h.flags.Set(flags.Awaited)
	h.admit()
}

// sweep puts the calls in the line whose goroutines have given up. Otherwise they would stay there
// as long as there is no room.
func (h *House) sweep() {
	invariant.Point("room.sweep")
	h.rooms().await.Sweep(freeCall)
	invariant.Point("room.swept")
	h.flags.Set(flags.Awaited) // again, if it was cleared while they were out of the line
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
	h.annex.Load().await.Finish(freeCall)
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
