package house

import (
	"log/slog"

	"github.com/stackhouse-go/stackhouse/stack"
)

// reportSlow says that a reading of the clock has found a step slow. The clock isn't read for
// each step: if there were several messages, the line names the last of them. What isn't the
// step's fault counts too: a processor that was taken away, a collection, system calls at the end
// of the turn.
func reportSlow(l *rateLimit, log *slog.Logger, now int64, e stack.SlowStep) {
	skipped, yes := l.due(now)
	if !yes {
		return
	}
	defer func() { recover() }() // a handler of the user's: its panic must not end the worker
	log.Warn("stackhouse: a step was slow", "took", e.Took, "worker", e.Worker,
		"messages", e.Messages, "actor", describe(e.Actor), "step", e.Step, "skipped", skipped)
}
