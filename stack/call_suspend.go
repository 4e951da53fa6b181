package stack

import "unsafe"

// Yield is what a step returns: proof that it said how it ended. Only Return,
// Throw, Suspend and their kin make one; the zero Yield panics.
type Yield struct{ how uint8 }

const (
	yieldNone    uint8 = iota
	yieldEnd           // the stack returned or threw
	yieldWait          // the stack is suspended
	yieldAgain         // the stack stays with its maker, who will push it again (channels)
	yieldStash         // the call goes to the stash
	yieldForward       // the stack ended, and Engine.onward answers in its place
	yieldOver          // the stack has ended before, and its kept jobs are home
)

// Suspend ends the step; the actor turns to other messages. The step next runs
// when all that s asked is answered: replied, failed or timed out.
//
//alloc:none
func Suspend[A, S any, PS RunningOf[S]](s PS, next func(*A, PS) Yield) Yield {
	return s.stack().wait(waitAll, erase(next), typeWord(next))
}

// SuspendAny is Suspend, but next runs at each answer. It may suspend again,
// without asking more, for the next one.
//
//alloc:none
func SuspendAny[A, S any, PS RunningOf[S]](s PS, next func(*A, PS) Yield) Yield {
	return s.stack().wait(waitAny, erase(next), typeWord(next))
}

// SuspendUntil is Suspend, but ready is called after each answer, and next runs
// once ready returns true: for the first of several, or 3 of 5. At the latest next
// runs when all is answered. ready must only look: calls reserved to steps panic in it.
//
//alloc:none
func SuspendUntil[A, S any, PS RunningOf[S]](s PS, ready func(*A, PS) bool, next func(*A, PS) Yield) Yield {
	st := s.stack()
	y := st.wait(waitUntil, erase(next), typeWord(next))
	st.ready = *(*predicate)(unsafe.Pointer(&ready))
	return y
}

// erase drops the types of a step. A func value is one pointer to its code, and
// every step takes two pointers and returns a Yield, so the call is the same.
func erase[A, PS any](f func(*A, PS) Yield) step { return *(*step)(unsafe.Pointer(&f)) }

// eraseAny is erase for an f of such a type that comes as an any.
func eraseAny(f any) step {
	data := (*[2]unsafe.Pointer)(unsafe.Pointer(&f))[1] // a func value is its pointer
	return *(*step)(unsafe.Pointer(&data))
}

// typeWord returns the identity of x's dynamic type.
func typeWord(x any) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&x)) }
