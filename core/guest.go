package core

import (
	"context"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Ask asks from a goroutine that is not a worker, and blocks until the answer is there or ctx
// ends: ErrTimeout or ErrCancelled. The deadline of ctx goes with the ask; without one the
// system's default holds. If the reply refers to bytes that the callee's stack carries, or is
// Answers, it is dead on return: use AskInto. In a step it fails with ErrBlockingOnWorker. Of a
// system that was never started it waits in vain, and ends with ErrNotStarted. Timer, and other
// ports without an actor, are for steps.
//
// A caller that finds the callee's worker parked runs the worker's turns on its own
// goroutine until the answer is there: see house.Config.WakeForGuests. Meanwhile it
// doesn't look at ctx, and no step may wait for what the caller holds or will do.
func Ask[Req, Rep any](ctx context.Context, p Port[Req, Rep], req Req) (rep Rep, err error) {
	var c begun
	if !p.begin(&c, req) {
		return rep, c.err
	}
	if err = c.guests.Wait(ctx, c.call); err != nil {
		return rep, err
	}
	rep = *stack.Reply[Rep](c.call.Stack())
	c.guests.Done(c.call)
	return rep, nil
}

// AskInto is Ask; read is called with the reply while all that it refers to is
// valid, and not at all if there is none.
func AskInto[Req, Rep any](ctx context.Context, p Port[Req, Rep], req Req, read func(*Rep)) error {
	var c begun
	if !p.begin(&c, req) {
		return c.err
	}
	if err := c.guests.Wait(ctx, c.call); err != nil {
		return err
	}
	defer c.guests.Done(c.call) // whatever read does
	read(stack.Reply[Rep](c.call.Stack()))
	return nil
}

// Notice tells from a goroutine that is not a worker, and doesn't wait. The error is
// ErrMailboxFull, and then the message is a dead letter; ErrStopped of an actor that has stopped,
// or whose system has; or ErrNoMember of a router that chooses one and has none (Broadcast to
// nobody is no error). Nobody gets the message then, and if it is one that is released, it was.
// What an actor hasn't handled when it stops is a dead letter.
func Notice[Msg any](p NoticePort[Msg], msg Msg) error {
	if p.to == nil {
		return p.post(msg)
	}
	return stack.Tell(p.to.Owner().Guests, p.to, p.by, &msg)
}

// NoticeWait is Notice that waits while the actor's mailbox is full, until it is half empty, the
// actor stops, or ctx ends (ErrTimeout or ErrCancelled, and the message is no dead letter). Who has
// waited competes with others for the room, so that one message may wait several times. If there is
// room it is sent, whether ctx has ended or not. With DropNewest it waits too, and with DropOldest
// it waits for as long as that refuses. A router doesn't wait: see Notice. In a step it fails with
// ErrBlockingOnWorker if it would wait.
func NoticeWait[Msg any](ctx context.Context, p NoticePort[Msg], msg Msg) error {
	if p.to == nil {
		return p.post(msg)
	}
	return stack.TellWait(ctx, p.to.Owner().Guests, p.to, p.by, &msg)
}

// Pending is an ask of a guest that doesn't block: several can be under way at
// once. Its goroutine polls Ready, or blocks in Get.
type Pending[Rep any] struct {
	guests *stack.Guests
	call   *stack.Call
	life   uint32 // of call: another one was begun by somebody else
	err    error  // why nothing was asked
}

// Begin asks from a goroutine that is not a worker and returns at once, with the
// system's default deadline for the callee. Get, which has none of its own, must be
// called, once: what nobody gets is never freed, and a second Get panics.
func Begin[Req, Rep any](p Port[Req, Rep], req Req) Pending[Rep] {
	var c begun
	if !p.begin(&c, req) {
		return Pending[Rep]{err: c.err}
	}
	under := Pending[Rep]{guests: c.guests, call: c.call, life: c.call.Generation()}
	if err := c.guests.Send(c.call); err != nil {
		return Pending[Rep]{err: err}
	}
	return under
}

// Ready reports whether Get returns at once.
func (p Pending[Rep]) Ready() bool { return p.err != nil || p.current().Ready() }

// current returns the call, unless it was freed, or will be as its Get has failed in a step.
func (p Pending[Rep]) current() *stack.Call {
	if p.call.Generation() != p.life || p.call.Abandoned() {
		panic("core: a Pending is used after its Get")
	}
	return p.call
}

// Get waits for the answer and frees it. If the reply refers to bytes that the
// callee's stack carries, or is Answers, it is dead on return: use GetInto. In a step it
// fails with ErrBlockingOnWorker rather than wait.
func (p Pending[Rep]) Get() (rep Rep, err error) {
	err = p.GetInto(func(r *Rep) { rep = *r })
	return rep, err
}

// GetInto is Get; read is called with the reply while all that it refers to is valid,
// and not at all if there is none.
func (p Pending[Rep]) GetInto(read func(*Rep)) error {
	if p.err != nil {
		return p.err
	}
	if err := p.guests.Finish(p.current()); err != nil {
		return err
	}
	defer p.guests.Done(p.call) // whatever read does
	if err := p.call.Stack().Err(); err != nil {
		return err
	}
	read(stack.Reply[Rep](p.call.Stack()))
	return nil
}
