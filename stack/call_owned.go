package stack

import "unsafe"

// An owned stack is never pooled. It is part of a longer-lived object of the
// runtime, such as a connection, and is pushed again whenever that object has
// something to do. Its steps may ask, a timer for example. They end with Again or, for good, with
// End.

// NewOwned makes the handler of owned stacks S. run is the step after a push,
// tick the step after each answer. finish is called when a step ended for
// good or panicked, or the house stopped.
func NewOwned[S any, PS RunningOf[S]](title string, run, tick func(PS) Yield, finish func(PS)) *Handler {
	var probe S
	return &Handler{
		offset: int(uintptr(unsafe.Pointer(PS(&probe).stack())) - uintptr(unsafe.Pointer(&probe))),
		class:  classOwned,
		Title:  title,
		first:  func(_, self unsafe.Pointer) Yield { return run((PS)(self)) },
		owned: ownedPart{
			tick:   func(_, self unsafe.Pointer) Yield { return tick((PS)(self)) },
			finish: func(s *Stack) { finish((PS)(s.self())) },
		},
	}
}

// Mortal returns a handler like h, which NewOwned made, whose stacks end with the instance of their
// actor: with ErrRestarted in a restart, which others outlive. A stack that waits for nothing isn't
// found then. An actor that drains doesn't wait for them.
func (h Handler) Mortal() *Handler { h.owned.mortal = true; return &h }

// Own makes s, which nobody else knows yet, an owned stack of the house at.
func Own[S any, PS RunningOf[S]](s PS, at *House, h *Handler) {
	st := s.stack()
	st.by, st.to = h, at
	st.own(h.owned.tick)
}

// Again ends a step of an owned stack.
func Again(s *Stack) Yield {
	s.stay()
	return Yield{yieldAgain}
}
