package house

const (
	// napEvents is how many events the network must have from one park to the next, in the mean,
	// for the worker to nap.
	napEvents = 20
	// napMean is over how many parks the mean is taken, roughly.
	napMean = 8
)

// naps reports whether a worker that is about to park sleeps through network events: the next event
// is near, and a wake-up for each takes the worker, and the sender, as long as a few events do. The
// next turn fetches the events that have come.
func (w *Worker) naps() bool {
	c := &w.system.config
	return w.eventful >= napEvents*napMean && c.Nap > 0 && c.BusyPoll <= 0 && w.poller.CanNap()
}

// heedEvents takes the number of events up to the end of a park into the mean; fetched is the
// number of the first events after it. The events of one park count for no more than a few parks
// do: after the last of a burst naps would be in vain.
func (w *Worker) heedEvents(fetched int) {
	w.eventful += min(w.events, 2*napEvents) - w.eventful/napMean
	w.events = fetched
}
