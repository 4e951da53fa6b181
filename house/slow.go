package house

import (
	"log/slog"

	"github.com/stackhouse-go/stackhouse/stack"
)

// reportSlow logs a slow step, which a reading of the clock has found. The clock isn't read for
// each step: if there were several messages since the last reading, the line names the last of
// them. Time that the step isn't to blame for counts too: while the processor was taken away, in a
// collection, in system calls at the end of the turn.
func reportSlow(l *rateLimit, log *slog.Logger, now int64, e stack.SlowStep) {
	skipped, yes := l.due(now)
	if !yes {
		return
	}
	defer func() { recover() }() // a handler of the user's: its panic must not end the worker
	log.Warn("stackhouse: a step was slow", "took", e.Took, "worker", e.Worker,
		"messages", e.Messages, "actor", describe(e.Actor), "step", e.Step, "skipped", skipped)
}
