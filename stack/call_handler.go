package stack

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// class is what happens to a stack at its end.
type class uint8

const (
	classNotice class = iota // put
	classAsk                 // sent home with its reply
	classBatch               // its members are ended, then it is put
	classOwned               // handed to finish: its maker decides
	classHook                // the actor's life goes on
)

// Handler describes one way to handle a message: the first step and the type of
// stack it runs in. Handlers are made once, mostly in package variables. Behind what all have there
// is a part for each kind; that of another kind is zero.
type Handler struct {
	class  class
	counts int32 // in a mailbox: 1, or 0 for what has a bound of its own
	first  step
	types  unsafe.Pointer // the type func(*A, *S) Yield: what every step must have
	kind   *pool.Kind
	offset int // of the Stack in the user's struct, in bytes

	bare     barePart
	envelope envelopePart
	batch    batchPart
	ask      askPart
	owned    ownedPart
	request  requestPart
	fan      fanPart
	job      jobPart
	notice   noticePart

	title  string       // name of a handler without a first step
	around []Middleware // told of each call
	actor  reflect.Type // who handles it
}

// barePart is of notices without locals, whose message has no Release.
type barePart struct {
	is       bool
	envelope *Handler       // which they share; nil: messages are too long for one
	wipe     func(s *Stack) // clears the message; nil: it holds no pointers
}

// envelopePart is of envelopes.
type envelopePart struct {
	opens  *Handler                          // of the messages; nil: it is no envelope
	unpack func(s *Stack, at unsafe.Pointer) // puts a message into a stack
	max    int                               // messages at most
	size   uintptr                           // of a message, in bytes
	word   bool                              // a message is one machine word, and no pointer
}

// batchPart is of messages that are handled in batches.
type batchPart struct {
	by  *Handler // of the batch's stack; nil: they aren't
	max int      // members at most
}

// askPart is of asks.
type askPart struct {
	hand func(from, to *Stack) // moves a reply
}

// ownedPart is of stacks that aren't pooled, and of requests of connections.
type ownedPart struct {
	tick   step           // of those that aren't pooled: the step after an answer
	finish func(s *Stack) // called at the end, on the owner of the house, in place of sending home
}

// requestPart is of requests of connections.
type requestPart struct {
	aside  func(s *Stack) // called in place of the first step, see Inflight.HoldBack
	parted func(s *Stack) // called when a part of a result is offered
}

// fanPart is of asks that ask others.
type fanPart struct {
	next step      // the one after the answers
	won  predicate // asked after each answer; nil: all are waited for
}

// jobPart is of functions that block.
type jobPart struct {
	work func(ctx context.Context, s *Stack) // what the goroutine does
	// what is called when its asker gives up; nil: it is no job
	onGiveUp func(s *Stack) *jobState
}

// noticePart is what is said of notices that get lost.
type noticePart struct {
	message reflect.Type
	box     func(m unsafe.Pointer) any // a copy of a message; nil: it is released
	letters bool                       // they tell of dead letters themselves
}

// Name returns the first step's name, as in "main.(*Cache).get".
func (h *Handler) Name() string {
	if h.title != "" {
		return h.title
	}
	return h.first.name()
}

// name returns the function behind a step.
func (f step) name() string {
	if f == nil {
		return "no step"
	}
	pc := **(**uintptr)(unsafe.Pointer(&f))
	name := runtime.FuncForPC(pc).Name()
	return name[strings.LastIndexByte(name, '/')+1:]
}

// StepName returns the name of the step that s is in or waits to enter.
func (s *Stack) StepName() string {
	if s.step == nil {
		return s.by.Name()
	}
	return s.step.name()
}

// newHandler makes a handler whose stacks are S. The function release, if not
// nil, lets go of what the message and the reply hold.
func newHandler[A, S any, PS RunningOf[S]](c class, first func(*A, PS) Yield, release func(PS)) *Handler {
	if first == nil {
		panic("stack: a handler needs a first step")
	}
	h := &Handler{class: c, counts: 1, first: erase(first), types: typeWord(first), actor: reflect.TypeFor[A]()}
	h.kind = newKind(h, release)
	return h
}

// newKind makes the pooled kind of the stacks S of h.
func newKind[S any, PS RunningOf[S]](h *Handler, release func(PS)) *pool.Kind {
	var probe S
	layout := pool.Layout{
		Size:   unsafe.Sizeof(probe),
		Offset: uintptr(unsafe.Pointer(PS(&probe).stack())) - uintptr(unsafe.Pointer(&probe)),
		Fixed:  fixedSize,
	}
	h.offset = int(layout.Offset)
	return pool.NewKind("stack "+h.Name(), layout,
		func() *pool.Object {
			st := (*Stack)(unsafe.Add(unsafe.Pointer(new(S)), layout.Offset))
			// What comes first must be a write, and of no pointer: a read, as a check for nil
			// does it, or a write barrier would have a new page mapped twice. The compiler leaves
			// out no zero that is written at an offset that it doesn't know.
			st.sent = 0
			st.by = h
			return &st.Object
		},
		clearing(layout.Offset, release))
}

// clearing returns the function that clears the stacks S. The Object and by,
// which the whole struct's clearing takes along, are put back.
func clearing[S any, PS RunningOf[S]](offset uintptr, release func(PS)) func(*pool.Object) {
	if offset == 0 && release == nil { // most: no detour on the way of every message
		return func(o *pool.Object) {
			st := stackOf(o)
			if !st.carried.Empty() {
				st.carried.Release()
			}
			var zero S
			object, by := st.Object, st.by
			*(*S)(unsafe.Pointer(st)) = zero
			st.Object, st.by = object, by
		}
	}
	return func(o *pool.Object) {
		st := stackOf(o)
		st.carried.Release()
		s := (*S)(st.self())
		if release != nil {
			release(s)
		}
		var zero S
		object, by := st.Object, st.by
		*s = zero
		st.Object, st.by = object, by
	}
}

// Releaser is implemented, on the pointer, by messages and replies that hold counted bytes:
// Release is called once, when the stack that carries the value is put, on whichever worker puts
// it, or by a guest. It may tell and begin asks, as guests do. It must not panic: no stack's
// failure would contain that.
type Releaser interface{ Release() }

// holds reports whether *T is a Releaser.
func holds[T any]() bool {
	_, ok := any((*T)(nil)).(Releaser)
	return ok
}

// letGo calls v's Release if it has one.
func letGo[T any](v *T) {
	if r, ok := any(v).(Releaser); ok {
		r.Release()
	}
}
