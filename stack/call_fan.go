package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// A fan is an ask that asks other actors and replies from their answers. The reply may refer to
// those answers, which live as long as the fan does. Its first step ends with Await, the second
// with KeepAnswers and then a return.
type fan struct {
	FanState
	Stack
}

// FanState stands right before the Head.
type FanState struct {
	By     *Handler        // the handler of its asks
	To     []*House        // the houses that it asks
	Router any             // its router, if its steps need that
	asker  *Stack          // nil: a guest asks
	one    [1]*House       // the array behind To, of a fan that asks one house
	kept   *future.Promise // the promises whose answers are put with the fan
}

// Only has the fan ask h alone.
func (f *FanState) Only(h *House) {
	f.one[0] = h
	f.To = f.one[:]
}

// FanOf returns the state of s, a fan.
func FanOf(s *Stack) *FanState {
	return &(*fan)(unsafe.Add(unsafe.Pointer(s), -int(unsafe.Offsetof(fan{}.Stack)))).FanState
}

// Await is Suspend, or SuspendUntil, with the steps that NewFan got.
//
//alloc:none
func (s *Stack) Await() Yield {
	if s.by.fan.won == nil {
		return s.wait(waitAll, s.by.fan.next, s.by.types)
	}
	y := s.wait(waitUntil, s.by.fan.next, s.by.types)
	s.ready = s.by.fan.won
	return y
}

// KeepAnswers cancels the asks that s still waits for, and keeps the answers that are there
// until s is put. A step of s calls it right before it returns.
//
//alloc:none
func (s *Stack) KeepAnswers() {
	w := s.Engine()
	if s.fresh != 0 {
		w.fresh[s.fresh-1] = nil
		s.fresh = 0
	}
	if s.pending != 0 {
		w.cancelAsked(s.to, s)
	}
	f := FanOf(s)
	if f.asker != nil && s.lends { // requests are copies of what the asker wrote
		f.asker.lendAll(s.bound, s.id)
	}
	f.kept, s.bound = s.bound, nil
}

// putAnswers is called before a fan is cleared.
func putAnswers(o *pool.Object) {
	for p := FanOf(stackOf(o)).kept; p != nil; p = p.Next {
		if p.Call != nil {
			pool.Send(p.Call) // any goroutine may put the fan
		}
	}
}

// NewFan makes the handler whose first step is first. Its second, next, runs when all asks are
// answered or, unless won is nil, when won says yes. The handler keeps the steps because
// in generic code each mention of a generic function takes memory.
//
// Neither request nor reply is released with the stack: the reply belongs to one
// of the answers.
func NewFan[A, S any, PS RunningOf[S]](first, next func(*A, PS) Yield, won func(*A, PS) bool) *Handler {
	e := EntryOf(first)
	clear := e.shape.clear
	e.shape.clear = func(o *pool.Object) {
		putAnswers(o)
		clear(o)
	}
	h := e.handler(classAsk, nil, nil)
	h.ask.refers = true // for all that is known here
	h.fan.next = erase(next)
	h.fan.won = *(*predicate)(unsafe.Pointer(&won))
	return h
}

// Text returns b as a string that shares its bytes.
func Text[B ~string | ~[]byte](b B) string { return *(*string)(unsafe.Pointer(&b)) }

// Unbegun reports whether the ask of p, which has ended, never began because its actor had
// stopped. Such an ask may be sent again.
func Unbegun(p *future.Promise) bool {
	return p.Err == fault.ErrStopped && p.Call != nil && stackOf(p.Call).unbegun
}

// Aim sets the house to which s goes, if that wasn't known when it was begun.
func (s *Stack) Aim(h *House) { s.to = h }
