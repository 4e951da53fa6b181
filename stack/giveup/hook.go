package giveup

import "sync/atomic"

// Hook is the function to call when the asker of a call gives up: once, by whoever comes first of
// the side that gives up and the side that has stored it too late. The zero Hook has none.
type Hook struct{ f atomic.Pointer[func()] }

// Set stores the function. The caller then looks at the call's Word, and Runs the Hook if the asker
// has given up: perhaps before the function was there.
func (h *Hook) Set(f *func()) { h.f.Store(f) }

// Run calls the function, unless there is none or it was called.
func (h *Hook) Run() {
	if f := h.f.Swap(nil); f != nil {
		(*f)()
	}
}
