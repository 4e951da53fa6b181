package house

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// linesEvery is the least time between two lines of one kind about one worker's actors, ns: a crash
// loop must not become a logging loop.
const linesEvery = 100e6

// tracesMax is how many calls of a trace are logged.
const tracesMax = 16

// rateLimit limits the rate of one kind of line.
type rateLimit struct {
	nextAt  int64
	skipped int
}

// due reports whether a line may be written now, and how many were skipped since the last one.
func (l *rateLimit) due(now int64) (skipped int, yes bool) {
	if now < l.nextAt {
		l.skipped++
		return 0, false
	}
	l.nextAt = now + linesEvery
	skipped, l.skipped = l.skipped, 0
	return skipped, true
}

// describe is House.Describe for an address: its path if it has a name.
func describe(a stack.AnyAddress) string {
	p := a.Path()
	if p.Local() == "" || strings.HasPrefix(p.Name(), "$") { // the zero address, or without a name
		return a.String()
	}
	return fmt.Sprintf("%s (%v)", p.Local(), a)
}

// report logs an error that is no failure of an actor, at a limited rate.
func report(l *rateLimit, log *slog.Logger, now int64, level slog.Level, text string, err error) {
	skipped, yes := l.due(now)
	if !yes {
		return
	}
	defer func() { recover() }() // a handler of the user's: its panic must not end the worker
	log.Log(context.Background(), level, text, "error", err, "skipped", skipped)
}

// reportFailure logs a failure of an actor, at a limited rate.
func reportFailure(l *rateLimit, log *slog.Logger, now int64, err error) {
	skipped, yes := l.due(now)
	if !yes {
		return
	}
	args := []any{"error", err, "skipped", skipped}
	var p *fault.PanicError
	if errors.As(err, &p) {
		var calls []any
		for i, f := range fault.Frames(p.Trace) {
			if i == tracesMax {
				break
			}
			calls = append(calls, strconv.Itoa(i+1), f)
		}
		args = append(args, slog.Group("trace", calls...))
	}
	defer func() { recover() }() // a handler of the user's: its panic must not end the worker
	log.Error("stackhouse: an actor failed", args...)
}
