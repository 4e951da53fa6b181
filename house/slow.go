package house

import "time"

// reportSlow says that n messages, which the worker has just handled, took so long, ns, that a
// step of theirs was slow. The clock isn't read for each step. If there were several messages,
// the line names the last of them; and the next ones are timed one by one, so that a step that
// is slow again is named then. What isn't the step's fault counts too: a processor that was
// taken away, a collection, system calls at the end of the turn.
//
//go:noinline
func (w *Worker) reportSlow(n uint64, ns int64) {
	skipped, yes := w.slowed.due(w.hot.Now)
	if !yes {
		return
	}
	worker, actor, step := w.hot.LastStep()
	defer func() { recover() }() // a handler of the user's: its panic must not end the worker
	w.system.config.Logger.Warn("stackhouse: a step was slow", "took", time.Duration(ns), "worker", worker,
		"messages", n, "actor", actor, "step", step, "skipped", skipped)
}
