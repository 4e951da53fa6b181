package house

import "time"

const (
	// napEvents is how many events the network has, from one park to the next, for a worker that it keeps busy.
	napEvents = 20
	// napMean is of how many parks that is the mean, roughly.
	napMean = 8
	// napMax is the longest Config.Nap: wards' networks wait for the watcher's naps, and it isn't stuck meanwhile.
	napMax = time.Millisecond
)

// naps reports whether a worker that is about to park sleeps through the network's events: the next one is near, and to
// be woken for each takes the worker, and who sends it, as long as a few events do. One that is the watcher's ward has
// no events of its own.
func (w *Worker) naps() bool {
	return w.eventful >= napEvents*napMean && w.ward.state != entrusted && w.system.config.Nap > 0 && w.poller.CanNap()
}

// nap is such a sleep. The next turn looks for what has come. The worker has no turn meanwhile.
func (w *Worker) nap(ns int64) error {
	_, err := w.poller.WaitForWake(min(ns, int64(w.system.config.Nap)))
	return err
}

// heedEvents notes how many events there were up to the end of a park, which has fetched the first of the next ones.
// However many they were, they don't count for more than a few parks: behind the last of them naps are in vain.
func (w *Worker) heedEvents(fetched int) {
	w.eventful += min(w.events, 2*napEvents) - w.eventful/napMean
	w.events = fetched
}
