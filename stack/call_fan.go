package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/pool"
)

// FanStack is an ask that asks others and answers with what they said: its reply
// may refer to the answers of its futures, which live as long as it does. Its first
// step ends with Await, the second with Keep and then Return.
type FanStack[Req, Rep any] struct {
	AskStack[Req, Rep]
	kept *future.Promise // whose answers are put with the stack
}

func (s *FanStack[Req, Rep]) fan() *FanStack[Req, Rep] { return s }

// Await is Suspend, or SuspendUntil, with the steps that NewFan got.
//
//alloc:none
func (s *FanStack[Req, Rep]) Await() Yield {
	if s.by.fan.won == nil {
		return s.wait(waitAll, s.by.fan.next, s.by.types)
	}
	y := s.wait(waitUntil, s.by.fan.next, s.by.types)
	s.ready = s.by.fan.won
	return y
}

// Keep cancels what s still waits for, and has the answers that are there live
// until s is put. A step of s calls it right before Return.
//
//alloc:none
func (s *FanStack[Req, Rep]) Keep() {
	w := s.Engine()
	if s.fresh != 0 {
		w.fresh[s.fresh-1] = nil
		s.fresh = 0
	}
	if s.pending != 0 {
		w.cancelAsked(s.to, &s.Stack)
	}
	s.kept, s.bound = s.bound, nil
}

// FanOf is satisfied by the pointer to every S that embeds FanStack[Req, Rep].
type FanOf[S, Req, Rep any] interface {
	RunningOf[S]
	fan() *FanStack[Req, Rep]
}

// NewFan makes the handler whose first step is first, and whose second is next: when
// all is answered or, unless won is nil, it says yes. The steps are kept here because
// in generic code each mention of a generic function takes memory.
//
// Neither request nor reply are released with the stack: the reply belongs to one
// of the answers.
func NewFan[A, S, Req, Rep any, PS FanOf[S, Req, Rep]](first, next func(*A, PS) Yield, won func(*A, PS) bool) *Handler {
	h := newHandler(classAsk, first, func(s PS) {
		for p := s.fan().kept; p != nil; p = p.Next {
			if p.Call != nil {
				pool.Send(p.Call) // whoever puts the stack
			}
		}
	})
	h.fan.next = erase(next)
	h.fan.won = *(*predicate)(unsafe.Pointer(&won))
	return h
}

// Aim says where a message that a guest began goes, if that wasn't known.
func (s *Stack) Aim(h *House) { s.to = h }
