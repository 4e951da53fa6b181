package core

import (
	"context"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Ask asks from a goroutine that is not a worker, and blocks until the answer is there. If ctx ends
// before, it fails with ErrTimeout or ErrCancelled. The ask has the deadline of ctx; if ctx has
// none, the system's default. Bytes in the reply that the callee's stack carries, and Answers, are
// invalid once Ask has returned: use AskInto. Called in a step, Ask fails with ErrBlockingOnWorker.
// If the actor's system was never started, it waits until the deadline and fails with
// ErrNotStarted. Timer and other ports without an actor are for steps only.
//
// If the callee's worker is parked, Ask runs the worker's turns on the caller's goroutine until the
// answer is there: see house.Config.WakeForGuests. Meanwhile it doesn't look at ctx, and no step
// may wait for what the caller holds or will do.
func Ask[Req, Rep any](ctx context.Context, p Port[Req, Rep], req Req) (rep Rep, err error) {
	var c begun
	if !p.begin(&c, req) {
		return rep, c.err
	}
	c.brings(ctx)
	if err = c.guests.Wait(ctx, c.call); err != nil {
		return rep, err
	}
	rep = *stack.Reply[Rep](c.call.Stack())
	c.guests.Done(c.call)
	return rep, nil
}

// AskInto is Ask for replies that refer to bytes: read is called with the reply while all that it
// refers to is valid. If there is no reply, read isn't called.
func AskInto[Req, Rep any](ctx context.Context, p Port[Req, Rep], req Req, read func(*Rep)) error {
	var c begun
	if !p.begin(&c, req) {
		return c.err
	}
	c.brings(ctx)
	if err := c.guests.Wait(ctx, c.call); err != nil {
		return err
	}
	defer c.guests.Done(c.call) // whatever read does
	read(stack.Reply[Rep](c.call.Stack()))
	return nil
}

// Notice sends msg from a goroutine that is not a worker, without waiting. The error is
// ErrMailboxFull, and then the message is a dead letter; ErrStopped if the actor, or its system,
// has stopped; or ErrNoMember if a router that chooses one member has none (Broadcast to nobody is
// no error). With an error nobody gets the message, and if it has a Release method, it was
// released. A notice that the actor hasn't handled when it stops is a dead letter.
func Notice[Msg any](p NoticePort[Msg], msg Msg) error {
	if p.to == nil {
		return p.post(msg)
	}
	return stack.Tell(p.to.Owner().Guests, p.to, p.by, &msg)
}

// NoticeWait is Notice that waits while the actor's mailbox is full, until it is half empty or the
// actor stops. If ctx ends before, the error is ErrTimeout or ErrCancelled, and the message is no
// dead letter. Senders that have waited compete with others for the room, so one message may wait
// several times. If there is room, the message is sent even if ctx has ended.
//
// If the mailbox has DropNewest, NoticeWait waits instead; with DropOldest it waits while messages
// are refused. It doesn't wait for room at a router's port: see Notice. In a step it fails with
// ErrBlockingOnWorker if it would have to wait.
func NoticeWait[Msg any](ctx context.Context, p NoticePort[Msg], msg Msg) error {
	if p.to == nil {
		return p.post(msg)
	}
	return stack.TellWait(ctx, p.to.Owner().Guests, p.to, p.by, &msg)
}

// Pending is an ask of a guest in progress that doesn't block; a guest may have several. The guest
// polls Ready, or blocks in Get.
type Pending[Rep any] struct {
	guests *stack.Guests
	call   *stack.Call
	life   uint32 // of call, when the ask began: it changes when call is freed
	err    error  // why nothing was asked
}

// Begin asks from a goroutine that is not a worker and returns at once. The ask has the system's
// default deadline, by which Get ends with ErrTimeout. Call Get exactly once: an answer that nobody
// gets is never freed, and a second Get panics.
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

// current returns the call. It panics if the call was freed, or will be because Get has failed in a
// step.
func (p Pending[Rep]) current() *stack.Call {
	if p.call.Generation() != p.life || p.call.Abandoned() {
		panic("core: a Pending is used after its Get")
	}
	return p.call
}

// Get waits for the answer, by the deadline at most, and frees it. Bytes in the reply that the
// callee's stack carries, and Answers, are invalid once Get has returned: use GetInto. In a step
// Get fails with ErrBlockingOnWorker if it would have to wait.
func (p Pending[Rep]) Get() (rep Rep, err error) {
	err = p.GetInto(func(r *Rep) { rep = *r })
	return rep, err
}

// GetInto is Get for replies that refer to bytes: read is called with the reply while all that it
// refers to is valid. If there is no reply, read isn't called.
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
