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
// stack it runs in. Handlers are made once, mostly in package variables.
type Handler struct {
	class    class
	counts   int32 // in a mailbox: 1, or 0 for what has a bound of its own
	first    step
	types    unsafe.Pointer // the type func(*A, *S) Yield: what every step must have
	kind     *pool.Kind
	offset   int                                 // of the Stack in the user's struct, in bytes
	batch    *Handler                            // non-nil: messages of this handler are run in stacks of batch
	max      int                                 // batch: members at most; envelopes: messages at most
	title    string                              // name of a handler without a first step
	work     func(ctx context.Context, s *Stack) // a job: what the goroutine does
	jobState func(s *Stack) *jobState            // a job: what is called when its asker gives up
	tick     step                                // owned stacks: the step after an answer; fans: the one after the answers
	won      predicate                           // fans: asked after each answer; nil: all are waited for
	hand     func(from, to *Stack)               // asks: moves a reply
	aside    func(s *Stack)                      // of requests of connections: called in place of the first step, see Inflight.HoldBack
	parted   func(s *Stack)                      // of requests of connections: called when a part of a result is offered
	finish   func(s *Stack)                      // classOwned: called at the end, on the owner of the house, in place of sending home
	bare     bool                                // notices: no locals, and a message without Release
	wipe     func(s *Stack)                      // bare: clears the message; nil: it holds no pointers
	mail     *Handler                            // bare: of the envelopes; nil: messages are too long for them
	opens    *Handler                            // envelopes: whose messages they hold
	unpack   func(s *Stack, at unsafe.Pointer)   // envelopes: puts a message into a stack
	size     uintptr                             // envelopes: of a message, in bytes
	word     bool                                // envelopes: a message is one machine word, and no pointer
	around   []Middleware                        // told of each call

	// What is said of notices that get lost.
	actor   reflect.Type               // who would have handled them
	message reflect.Type               // of notices
	box     func(m unsafe.Pointer) any // of notices: a copy of a message; nil: it is released
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
			// What comes first must be a write, and of no pointer: a read, as a check for nil does it, or
			// a write barrier would have a new page mapped twice. The compiler leaves out no zero that is
			// written at an offset that it doesn't know.
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

// Releaser is implemented, on the pointer, by messages and replies that hold
// counted bytes: Release is called once, when the stack that carries the value
// is put, on whichever worker puts it, or by a guest. It may tell and begin asks, as guests do. It must not panic: no
// stack's failure would contain that.
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
