package stack

import (
	"context"
	"reflect"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/move"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/release"
)

// class is what happens to a stack at its end.
type class uint8

const (
	classNotice class = iota // it is put
	classAsk                 // it is sent home with its reply
	classBatch               // its members are ended, then it is put
	classOwned               // ownedPart.finish gets it: its maker decides
	classHook                // its house takes it next, see goesFirst: the actor's life goes on
)

// Handler describes one way to handle a message: the first step and the type of
// stack it runs in. Handlers are made once, mostly in package variables. After the fields of all
// handlers there is a part for each kind of handler; the parts of other kinds are zero.
type Handler struct {
	class  class
	counts int32 // places in a mailbox: 1, or 0 for stacks that are bounded elsewhere
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

	Title  string       // the name, if that isn't the first step's; empty: it is
	around []Middleware // called around each call
	users  Running      // with middleware: a nil pointer to the type of its stacks
	actor  reflect.Type // the struct of the actors that handle it

	Contract string // the name of the method that it is a handler of, see core.Method; empty: none
	Private  bool   // notices that meet the end of their actor are no dead letters: no user sent them
}

// barePart is of notices without locals, whose message has no Release.
type barePart struct {
	is       bool
	envelope *Handler       // of the envelopes that they share; nil: messages are too long
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
	by  *Handler // of the batch's stack; nil: messages are handled one by one
	max int      // members at most
}

// askPart is of asks.
type askPart struct {
	hand   func(from, to *Stack) // moves a reply
	refers bool                  // requests may have bytes of the asker
}

// ownedPart is of stacks that aren't pooled, and of requests of connections.
type ownedPart struct {
	tick   step           // of stacks that aren't pooled: the step after an answer
	finish func(s *Stack) // called at the end, by the owner of the house; nothing is sent home
	mortal bool           // they end with the instance of their actor, and no drain waits for them
}

// requestPart is of requests of connections.
type requestPart struct {
	is     bool
	parted func(c *Inbound) // called when a part of a result is offered
}

// fanPart is of asks that ask others.
type fanPart struct {
	next step      // the step after the answers
	won  predicate // asked after each answer; nil: next runs when all are there
}

// jobPart is of functions that block.
type jobPart struct {
	work func(ctx context.Context, s *Stack) error // what the goroutine does
	// where a job has what is called when its asker gives up; nil: it is no job
	onGiveUp func(s *Stack) *jobState
}

// noticePart is what events of dead letters need to know of notices.
type noticePart struct {
	message reflect.Type
	box     func(m unsafe.Pointer) any // copies a message; nil: messages have a Release
	letters bool                       // the notices tell of dead letters themselves
}

// Name returns the title or, without one, the first step's name, as in "main.(*Cache).get".
func (h *Handler) Name() string {
	if h.Title != "" {
		return h.Title
	}
	return h.first.name()
}

// name returns the name of a step's function.
func (f step) name() string {
	if f == nil {
		return "no step"
	}
	return move.FuncName(*(*unsafe.Pointer)(unsafe.Pointer(&f)))
}

// StepName returns the name of the step that s is in or waits to enter.
func (s *Stack) StepName() string {
	if s.step == nil {
		return s.by.Name()
	}
	return s.step.name()
}

// Entry is the first step of a handler, and the type of its stacks. EntryOf makes it. Handlers
// can't be made of an Entry with a nil step: that panics.
type Entry struct {
	step  step
	types unsafe.Pointer
	actor reflect.Type
	shape shape
}

// EntryOf returns the entry whose first step is first and whose stacks are S. The compiler makes
// this function for each handler, and little more.
func EntryOf[A, S any, PS RunningOf[S]](first func(*A, PS) Yield) Entry {
	return entryBy(first, PS(nil), clearing[S]())
}

func entryBy(first any, users Running, clear func(*pool.Object)) Entry {
	return Entry{eraseAny(first), typeWord(first), reflect.TypeOf(first).In(0).Elem(), shapeOf(users, clear)}
}

// handler makes the handler, of class c, that begins with e.
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
	offset uintptr              // of the Stack, in bytes
	users  Running              // a nil pointer to the type
	clear  func(o *pool.Object) // releases what a stack carries; clears all but Object and by
}

func shapeOf(users Running, clear func(*pool.Object)) shape {
	of := reflect.TypeOf(users).Elem()
	probe := reflect.New(of).UnsafePointer()
	return shape{of, uintptr(unsafe.Pointer(Of(move.Boxed(users, probe)))) - uintptr(probe), users, clear}
}

// clearing returns shape.clear for stacks S.
func clearing[S any]() func(*pool.Object) {
	return func(o *pool.Object) {
		s := letGo(o)
		var zero S
		object, by := s.Object, s.by
		*(*S)(unsafe.Add(unsafe.Pointer(s), -by.offset)) = zero
		s.Object, s.by = object, by
	}
}

// letGo releases what a stack holds. It is apart, as nothing is compiled into generic closures.
func letGo(o *pool.Object) *Stack {
	s := stackOf(o)
	if !s.carried.Empty() {
		s.carried.Release()
	}
	s.context.Drop()
	if s.borrows {
		s.lent().Release()
	}
	return s
}

func (p shape) size() uintptr { return p.of.Size() }

// newKind makes the pooled kind of the stacks of h.
func (h *Handler) newKind(p shape, r release.Values) *pool.Kind {
	h.offset = int(p.offset)
	return pool.NewKind("stack "+h.Name(), pool.Layout{Size: p.size(), Offset: p.offset, Fixed: fixedSize},
		func() *pool.Object {
			s := (*Stack)(unsafe.Add(reflect.New(p.of).UnsafePointer(), p.offset))
			// The first access to a new page must be a write of something that is no pointer. After a
			// read, such as a check for nil or a write barrier makes, the page would be mapped a second
			// time. The compiler can't leave this write out, as it doesn't know the offset.
			s.sent = 0
			s.by = h
			return &s.Object
		},
		r.Before(p.clear))
}

// Releaser is a message or a reply that holds counted bytes.
type Releaser = release.Releaser
