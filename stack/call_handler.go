package stack

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/move"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/release"
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
	users  Running      // of one with middleware: a nil pointer to its stacks
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
	is     bool
	parted func(c *Inbound) // called when a part of a result is offered
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

// Entry is the first step of a handler, with what is to be known of its stacks. EntryOf makes it;
// that of no step is refused.
type Entry struct {
	step  step
	types unsafe.Pointer
	actor reflect.Type
	shape shape
}

// EntryOf returns the entry by first, whose stacks are S. What is compiled for each handler is
// this, and little more.
func EntryOf[A, S any, PS RunningOf[S]](first func(*A, PS) Yield) Entry {
	return entryBy(first, PS(nil), clearing[S]())
}

func entryBy(first any, users Running, clear func(*pool.Object)) Entry {
	return Entry{eraseAny(first), typeWord(first), reflect.TypeOf(first).In(0).Elem(), shapeOf(users, clear)}
}

// handler makes the handler that begins there.
func (e Entry) handler(c class, around []Middleware, r release.Values) *Handler {
	if e.step == nil {
		panic("stack: a handler needs a first step")
	}
	h := &Handler{class: c, counts: 1, first: e.step, types: e.types, actor: e.actor}
	h.wrap(around, e.shape.users)
	h.kind = h.newKind(e.shape, r)
	return h
}

// shape is a type of stacks.
type shape struct {
	of     reflect.Type
	offset uintptr              // of the Stack
	users  Running              // a nil pointer to one
	clear  func(o *pool.Object) // all of one but the Object and by, and lets go what it carries
}

func shapeOf(users Running, clear func(*pool.Object)) shape {
	of := reflect.TypeOf(users).Elem()
	probe := reflect.New(of).UnsafePointer()
	return shape{of, uintptr(unsafe.Pointer(Of(move.Boxed(users, probe)))) - uintptr(probe), users, clear}
}

// clearing returns shape.clear of S.
func clearing[S any]() func(*pool.Object) {
	return func(o *pool.Object) {
		s := stackOf(o)
		if !s.carried.Empty() {
			s.carried.Release()
		}
		var zero S
		object, by := s.Object, s.by
		*(*S)(unsafe.Add(unsafe.Pointer(s), -by.offset)) = zero
		s.Object, s.by = object, by
	}
}

func (p shape) size() uintptr { return p.of.Size() }

// newKind makes the pooled kind of the stacks of h.
func (h *Handler) newKind(p shape, r release.Values) *pool.Kind {
	h.offset = int(p.offset)
	return pool.NewKind("stack "+h.Name(), pool.Layout{Size: p.size(), Offset: p.offset, Fixed: fixedSize},
		func() *pool.Object {
			s := (*Stack)(unsafe.Add(reflect.New(p.of).UnsafePointer(), p.offset))
			// What comes first must be a write, and of no pointer: a read, as a check for nil
			// does it, or a write barrier would have a new page mapped twice. The compiler leaves
			// out no zero that is written at an offset that it doesn't know.
			s.sent = 0
			s.by = h
			return &s.Object
		},
		r.Before(p.clear))
}

// Releaser is a message or a reply that holds counted bytes.
type Releaser = release.Releaser
