package house

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack"
)

// loop runs the worker until it is told to leave.
func (w *Worker) loop() {
	w.hot.Enter()
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
	w.hot.Exit()
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

// park blocks until another worker, a guest, the network or a timer has work. From
// Park to Unpark a guest may run the worker's turns.
func (w *Worker) park() {
	w.idleAt = 0
	ns := w.NextWake()
	if ns == 0 {
		return
	}
	w.hot.Count.Add(stack.CountParks, 1)
	w.publish()
	var err error
	if w.hot.Park() {
		err = w.poller.Wait(ns)
	}
	woken := w.hot.Woken()
	for !w.hot.Unpark() {
		err = w.poller.Wait(-1) // until the guest gives the turn back
	}
	w.checkPoll(err)
	if woken {
		w.hot.Count.Add(stack.CountWoken, 1)
	}
	w.hot.Now = w.system.config.Clock()
	w.poller.Deliver()
}

// checkPoll ends the process if the poller is broken: a worker that can't wait
// can't work.
func (w *Worker) checkPoll(err error) {
	if err != nil {
		panic(fmt.Sprintf("house: worker %d can't poll: %v", w.hot.Index, err))
	}
}
