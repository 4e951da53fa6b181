package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/move"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// Middleware is called around the calls of the handlers that it is given to. It is called in turns
// of the actor's worker, so it must not block; on several workers at once if it serves several
// actors. Its argument s is the pointer that the handler's steps get.
type Middleware interface {
	// Begins is called before the first step of a call. An error refuses the call: an ask is
	// answered with it, a notice becomes a dead letter. A panic is a failure of the actor. Begins
	// must not ask, nor end s.
	Begins(s Running) error
	// Ended is called once for each call for which Begins returned nil, when its last step has
	// ended or the runtime ends it. err is what its asker gets in place of a reply. Ended is also
	// called when a call is stashed; Begins is called again when it begins again. A panic is counted
	// and reported. Ended must not call runtime.Goexit.
	Ended(s Running, err error)
}

// middlewareMax is how many Middleware a handler can have: Stack.ends counts them.
const middlewareMax = endBars - 1

// wrap gives a handler, which nobody knows yet, its middleware; users is a nil pointer to the type
// of its stacks. The handler's name stays that of its first step.
func (h *Handler) wrap(around []Middleware, users Running) {
	if len(around) == 0 {
		return
	}
	if len(around) > middlewareMax {
		panic("stack: a handler with too much middleware")
	}
	first := h.first
	h.around, h.users, h.Title = around, users, first.name()
	h.first = func(a, self unsafe.Pointer) Yield {
		r := move.Boxed(users, self)
		s := Of(r)
		for _, m := range around {
			if err := m.Begins(r); err != nil {
				return s.denied(err)
			}
			s.ends++
		}
		return first(a, self)
	}
}

// denied ends s, which middleware has refused.
func (s *Stack) denied(err error) Yield {
	y := s.finish()
	s.used, s.err = true, err
	if s.by.class == classNotice {
		s.Engine().Lost(s.to, s, lost.Refused)
	}
	return y
}
