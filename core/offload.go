package core

import (
	"context"
	"reflect"
	"sync"

	"github.com/stackhouse-go/stackhouse/stack"
)

// OffloadPool is goroutines that run offloaded functions: house.System.NewOffloadPool makes one,
// with limits of its own. An actor gets it as it gets a port, in a field.
//
// The system makes pools, and not whoever uses them, because it must end their goroutines, and
// because limits are the business of who runs a program: they belong beside the number of workers.
type OffloadPool = stack.OffloadPool

// Offload asks a goroutine that may block for fn(ctx, in), from a step of s. It is OffloadTo the
// pool that every system has; its limits are house.Config.OffloadMax and OffloadQueue. At its
// deadline s goes on, though fn may be at work still: what must not be left alone, as a write,
// goes by OffloadKept.
//
// The goroutine shares nothing with the actor: fn must capture nothing, and gets a copy of in.
// But what in points at isn't copied. Slices may be of bytes that s has the use of: of its
// message, or those of its batch, also where they are a connection's, of Bytes and Copy, and of
// the answers in its futures. All these live until fn has returned, though s may have ended, been
// stopped or asked its futures again long before; nobody may write to them meanwhile, and the
// result must not refer to them. What else in points at must be fn's alone, or not change any
// more: never the actor's state, which other steps write while fn reads it (only behind a Barrier
// and with OffloadKept no step does). An in that is a
// stack.Releaser is released with the function's result, and needs a count of its own for that.
func Offload[In, R any](s Running, f *Future[R], in In, fn func(ctx context.Context, in In) (R, error)) {
	stack.Offload(stack.Of(s), f, jobOf[In, R](), nil, false, in, fn)
}

// OffloadTo is Offload to a pool of one's own, for what blocks on the same thing: a disk, a
// database. So what waits for a slow one takes no goroutines from the others. A nil pool is that
// of Offload.
//
// The answer is what fn returns; a panic is a *PanicError. ErrOverloaded: the pool's goroutines
// and queue are full. ErrBreakerOpen: its breaker is. ErrStopped: its system shuts down.
//
// ctx ends when the asker gives up (it ended, its deadline passed, it was cancelled or stopped),
// when fn has returned, and when the system shuts down. ErrTimeout and ErrCancelled are told
// instead of the context's own errors, if fn returns those. A function that is still queued then
// is never called. One that looks at ctx costs some garbage, one that doesn't costs none: its ctx
// serves another function later. So a goroutine that fn leaves behind may use ctx only if fn has
// used it, or derived another from it, before it returned.
func OffloadTo[In, R any](s Running, f *Future[R], pool OffloadPool, in In, fn func(ctx context.Context, in In) (R, error)) {
	stack.Offload(stack.Of(s), f, jobOf[In, R](), pool, false, in, fn)
}

// OffloadKept is OffloadTo for what must not be left alone once it has begun, such as a write: s
// doesn't end before fn has returned. Nobody gives it up. No deadline ends the wait, neither that
// of s nor the pool's Timeout. If the asker of s gives up from now on, s goes on nevertheless, so
// that the steps behind fn are run; what it asks there has its deadline still. If s returns,
// throws or panics first, or its actor is stopped or begins anew, the end of s is put off until
// fn has returned: its asker gets what s returned, or ErrStopped or ErrRestarted, then, its
// barrier ends then, and a stop or a restart waits for that, as it does for children. So what
// holds the actor's calls, by its Barrier or because the actor is Serial, holds them for as long
// as fn is at work. Whoever asked s may have timed out.
//
// So fn must end by itself. Its ctx ends when it has returned, and when a shutdown has waited for
// its actor in vain. It isn't called if the pool refuses it, as said at OffloadTo. A call that
// keeps a function can't be forwarded.
func OffloadKept[In, R any](s Running, f *Future[R], pool OffloadPool, in In, fn func(ctx context.Context, in In) (R, error)) {
	stack.Offload(stack.Of(s), f, jobOf[In, R](), pool, true, in, fn)
}

// jobs holds the handler of each pair of types that was ever offloaded.
var jobs sync.Map

type jobKey[In, R any] struct{}

func jobOf[In, R any]() *stack.Handler {
	key := reflect.TypeFor[jobKey[In, R]]()
	h, ok := jobs.Load(key)
	if !ok {
		h, _ = jobs.LoadOrStore(key, stack.NewJob[In, R]())
	}
	return h.(*stack.Handler)
}
