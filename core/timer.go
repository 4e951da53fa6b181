package core

import (
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
