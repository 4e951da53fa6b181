package house

import "github.com/stackhouse-go/stackhouse/stack"

const (
	// napEvents is how many events the network has, from one park to the next, for a worker that it keeps busy.
	napEvents = 20
	// napMean is of how many parks that is the mean, roughly.
	napMean = 8
)

// naps reports whether a worker that parks sleeps through the network's events first: the next one is near, and to be
// woken for each takes the worker, and who sends it, as long as a few events do. Parked again behind a nap that found
// nothing, it naps less.
func (w *Worker) naps() bool {
	return w.eventful >= napEvents*napMean && w.system.config.Nap > 0 && w.poller.CanNap()
}

// nap is such a sleep. The next turn looks for what has come.
func (w *Worker) nap(ns int64) error {
	w.hot.Count.Add(stack.CountNaps, 1)
	_, err := w.poller.WaitForWake(min(ns, int64(w.system.config.Nap)))
	return err
}

// heedEvents notes how many events there were up to the end of a park, which has fetched the first of the next ones.
func (w *Worker) heedEvents(fetched int) {
	w.eventful += w.events - w.eventful/napMean
	w.events = fetched
}
