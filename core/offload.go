package core

import (
	"context"
	"reflect"
	"sync"

	"github.com/stackhouse-go/stackhouse/stack"
)

// OffloadPool is a bounded set of goroutines that run offloaded functions;
// house.System.NewOffloadPool makes one. An actor keeps it in a field, like a port.
//
// Pools belong to the system, which ends their goroutines at its shutdown. Their limits are set
// where the program sets the number of workers, not where an actor uses them.
type OffloadPool = stack.OffloadPool

// Offload runs fn(ctx, in) on a goroutine that may block, and answers f with its result. Only a
// step of s may call it. It is OffloadTo for the pool that every system has, whose limits are
// house.Config.OffloadMax and OffloadQueue. At its deadline s goes on even if fn still runs: use
// OffloadKept for what must not be left alone, such as a write.
//
// The goroutine shares nothing with the actor: fn must capture nothing, and gets a copy of in. But
// what in points at isn't copied. Slices in it may be of bytes that s may use: those of its
// message, or of its batch's messages, also if they are a connection's; those of Bytes and Copy;
// and those of the answers in its futures. These bytes live until fn has returned, even if s ends,
// is stopped, or asks its futures again before. Nobody may write to them meanwhile, and the result
// must not refer to them.
//
// Everything else that in points at must belong to fn alone, or not change any more. It must never
// be the actor's state, which other steps write while fn reads it (only with both a Barrier and
// OffloadKept no step does). If in is a stack.Releaser it is released with the function's result,
// so it needs a count of its own.
func Offload[In, R any](s Running, f *Future[R], in In, fn func(ctx context.Context, in In) (R, error)) {
	stack.Offload(stack.Of(s), f, jobOf[In, R](), nil, false, in, fn)
}

// OffloadTo is Offload to a pool of your own, for functions that block on the same thing, such as a
// disk or a database: a slow one then takes no goroutines from other functions. nil is the pool of
// Offload.
//
// The answer is what fn returns, or a *PanicError if it panics. Other errors: ErrOverloaded, the
// pool's goroutines and queue are full; ErrBreakerOpen, its breaker is open; ErrStopped, its system
// shuts down.
//
// ctx ends when fn has returned, when the system shuts down, and when the asker gives up: its stack
// has ended or was cancelled, its deadline has passed, or its actor has stopped. If fn then returns
// the error of ctx, f gets ErrTimeout or ErrCancelled instead. A function that is still queued at
// that time is never called.
//
// A function that uses ctx costs some garbage. Otherwise its ctx is reused for another function: so
// a goroutine that outlives fn may use ctx only if fn itself has used it, or derived another from
// it, before it returned.
func OffloadTo[In, R any](s Running, f *Future[R], pool OffloadPool, in In, fn func(ctx context.Context, in In) (R, error)) {
	stack.Offload(stack.Of(s), f, jobOf[In, R](), pool, false, in, fn)
}

// OffloadKept is OffloadTo for a function that must not be left alone once it has begun, such as a
// write: s doesn't end before fn has returned. No deadline ends the wait, neither that of s nor the
// pool's Timeout. If the asker of s gives up meanwhile, s goes on nevertheless, so that the steps
// after fn run; asks of these steps still have the deadline of s.
//
// If s returns, throws or panics before fn has returned, or if its actor is stopped or restarted,
// the end of s is put off until then. Only then does its asker get what s returned, or ErrStopped
// or ErrRestarted; the asker may have timed out before. A stop or a restart waits for that, as it
// does for children. A Barrier of s, and Props.Serial, hold the actor's calls for as long as fn
// runs.
//
// So fn must end by itself. Its ctx ends only when fn has returned, or when a shutdown has waited
// for its actor in vain. If the pool refuses fn, it isn't called: see OffloadTo. A call with a kept
// function can't be forwarded.
func OffloadKept[In, R any](s Running, f *Future[R], pool OffloadPool, in In, fn func(ctx context.Context, in In) (R, error)) {
	stack.Offload(stack.Of(s), f, jobOf[In, R](), pool, true, in, fn)
}

// jobs holds the handler of each pair of types In and R that was offloaded.
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
