package house

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack"
)

// loop runs the worker until it is told to leave.
func (w *Worker) loop() {
	defer w.exit()
	for {
		if w.Turn() {
			w.idleAt = 0
			continue
		}
		if w.leaving.Load() {
			w.hot.Leave()
			w.publish()
			w.poller.Close()
			w.left = true
			return
		}
		if !w.spinning() {
			w.park()
		}
	}
}

// exit is deferred around the loop: a step that calls runtime.Goexit, as a test's
// FailNow does, ends the goroutine but not the worker.
func (w *Worker) exit() {
	if w.left {
		close(w.gone)
		return
	}
	go w.loop()
}

// spinning reports whether a worker with nothing to do should look again
// instead of parking.
func (w *Worker) spinning() bool {
	if w.idleAt == 0 {
		w.idleAt = w.hot.Now
		return w.system.config.Spin > 0
	}
	return w.hot.Now-w.idleAt < int64(w.system.config.Spin)
}

// park blocks until another worker, a guest, the network or a timer has work.
func (w *Worker) park() {
	w.idleAt = 0
	ns := w.NextWake()
	if ns == 0 || !w.hot.Park() {
		return
	}
	w.hot.Count.Add(stack.CountParks, 1)
	w.publish()
	n, err := w.poller.Wait(ns)
	w.hot.Unpark()
	w.checkPoll(err)
	if n > 0 {
		w.hot.Now = w.system.config.Clock()
	}
}

// checkPoll ends the process if the poller is broken: a worker that can't wait
// can't work.
func (w *Worker) checkPoll(err error) {
	if err != nil {
		panic(fmt.Sprintf("house: worker %d can't poll: %v", w.hot.Index, err))
	}
}
