package house

const (
	// napEvents is how many events the network has, from one park to the next, for a worker that
	// it keeps busy.
	napEvents = 20
	// napMean is of how many parks that is the mean, roughly.
	napMean = 8
)

// naps reports whether a worker that is about to park sleeps through the network's events: the
// next one is near, and to be woken for each takes the worker, and who sends it, as long as a few
// events do. The next turn looks for what has come.
func (w *Worker) naps() bool {
	return w.eventful >= napEvents*napMean && w.system.config.Nap > 0 && w.poller.CanNap()
}

// heedEvents notes how many events there were up to the end of a park, which has fetched the
// first of the next ones. However many they were, they don't count for more than a few parks:
// behind the last of them naps are in vain.
func (w *Worker) heedEvents(fetched int) {
	w.eventful += min(w.events, 2*napEvents) - w.eventful/napMean
	w.events = fetched
}
