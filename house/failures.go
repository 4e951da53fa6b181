package house

import (
	"errors"
	"log/slog"

	"github.com/stackhouse-go/stackhouse/stack"
)

// failuresEvery is the least time between two lines about failures of one
// worker's actors, ns: a crash loop must not become a logging loop.
const failuresEvery = 100e6

// failures reports what goes wrong in a worker's actors, at a limited rate.
type failures struct {
	nextAt  int64
	skipped int
}

func (f *failures) report(log *slog.Logger, now int64, err error) {
	if now < f.nextAt {
		f.skipped++
		return
	}
	f.nextAt = now + failuresEvery
	args := []any{"error", err, "skipped", f.skipped}
	f.skipped = 0
	var p *stack.PanicError
	if errors.As(err, &p) {
		args = append(args, "trace", string(p.Trace))
	}
	defer func() { recover() }() // a handler of the user's: its panic must not end the worker
	log.Error("stackhouse: an actor failed", args...)
}
