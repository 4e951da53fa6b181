package core

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Tick is a timer's answer.
type Tick struct{}

// Timer answers after the duration that it is asked for: never early, late by
// what the worker is busy with. A timer is
// cancelled by the end of the stack that asked. The default deadline of asks
// doesn't apply to it; the deadline that its stack inherited does, and ends it
// with ErrTimeout.
var Timer = Port[time.Duration, Tick]{route: &route[time.Duration]{
	via: func(s *stack.Stack, p *future.Promise, d time.Duration, limit int64) {
		s.Alarm(p, int64(d), limit)
	},
}}

// Offload asks a goroutine that may block for fn(ctx, in), from a step of s. The
// input is copied and fn must capture nothing, so that the goroutine shares
// nothing with the actor. ctx ends when the system shuts down. If too many
// goroutines are at work already, the answer is ErrOverloaded.
func Offload[In, R any](s Running, f *Future[R], in In, fn func(ctx context.Context, in In) (R, error)) {
	stack.Offload(stack.Of(s), f, jobOf[In, R](), in, fn)
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
