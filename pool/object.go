package pool

import (
	"sync/atomic"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// Object is the head of everything that is pooled. It is embedded, by value, somewhere in the
// pooled struct; its Kind knows where.
type Object struct {
	next *Object // owned by the list or chain that holds the object
	list *list   // of its kind, at its home; written once
	// raised by the holder at take, at put, and at the first Hold. Invariant: odd while taken and
	// not held since
	gen  uint32
	held int32 // puts still to come, once it is held; atomic, as each may be on another worker
}

// Hold has o go home after one more put, because another user holds it too. The caller must hold o.
// The last put clears it.
func (o *Object) Hold() {
	if o.Taken() { // by the caller alone
		o.gen++
		o.held = 2
	} else if atomic.AddInt32(&o.held, 1) < 2 {
		panic("pool: hold of an object that is not taken")
	}
}

// last counts a put of o, which is held, and reports whether it was the last one: then o is the
// caller's alone.
//
//go:noinline
func (o *Object) last() bool {
	invariant.Point("pool.last")
	left := atomic.AddInt32(&o.held, -1)
	if left < 0 {
		panic("pool: put of an object that is not taken")
	}
	if left == 0 {
		o.gen++
	}
	return left == 0
}

// Generation differs between any two lives of the object (until it wraps, after a billion lives),
// and within one life changes at the first Hold. Only the holder may read it: if it differs from
// the number noted before, the object was recycled in between.
func (o *Object) Generation() uint32 { return o.gen }

// Taken reports whether the object is taken and wasn't held since. Only its holder may call it.
func (o *Object) Taken() bool { return o.gen&1 == 1 }

// Alone reports whether nobody but the caller, who has taken the object, holds it any more.
func (o *Object) Alone() bool { return o.Taken() || atomic.LoadInt32(&o.held) == 1 }

// Link returns the pointer by which the holder of a taken object may chain it to others. The pool
// doesn't use it until the put.
func (o *Object) Link() **Object { return &o.next }

// Home returns the shard that the object goes back to. Any goroutine may call it.
func (o *Object) Home() *Shard { return o.list.shard }

// Kind returns the object's kind. Any goroutine may call it.
func (o *Object) Kind() *Kind { return o.list.kind }

// Kind describes one type of pooled object. Kinds are made once, mostly in
// package variables, and live as long as the process.
type Kind struct {
	id     int
	name   string
	layout Layout
	keeps  bool // clear leaves scratch behind, so memory isn't zero at take
	shared bool // others than its last holder may still write to it
	slab   bool // its objects are slabs
	make   func() *Object
	clear  func(*Object)
}

// Layout says where in a pooled struct its Object stands, in bytes.
type Layout struct {
	Size   uintptr // of the whole struct
	Offset uintptr // of the Object
	// of the part, from the Object on, that make writes once and clear leaves alone: at least
	// ObjectSize
	Fixed uintptr
}

// ObjectSize is the smallest Layout.Fixed.
const ObjectSize = unsafe.Sizeof(Object{})

var kinds atomic.Int64

// NewKind registers a type; any goroutine may call it. The function make allocates one object.
// clear zeroes everything but the fixed part; it is called at each put, on the worker or goroutine
// that puts. NewKind panics if the layout is impossible.
func NewKind(name string, layout Layout, make func() *Object, clear func(*Object)) *Kind {
	if layout.Fixed < ObjectSize || layout.Offset+layout.Fixed > layout.Size {
		panic("pool: impossible layout of " + name)
	}
	return &Kind{id: int(kinds.Add(1)) - 1, name: name, layout: layout, make: make, clear: clear}
}

// Keeps declares that clear leaves scratch memory in the object for its next life. Such a kind
// isn't checked for writes after put.
func (k *Kind) Keeps() *Kind {
	k.keeps = true
	return k
}

// Shared declares that other goroutines than the last holder may still write to bytes that clear
// leaves alone, until the object is taken again. The put of such a kind isn't announced to the race
// detector as a write.
func (k *Kind) Shared() *Kind {
	k.shared = true
	return k
}

// Name returns the name given to NewKind.
func (k *Kind) Name() string { return k.name }

// base returns the address of the pooled struct.
func (k *Kind) base(o *Object) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(o), -int(k.layout.Offset))
}

// memory returns the bytes of the struct before and behind its fixed part.
func (k *Kind) memory(o *Object) (before, behind []byte) {
	whole := unsafe.Slice((*byte)(k.base(o)), k.layout.Size)
	return whole[:k.layout.Offset], whole[k.layout.Offset+k.layout.Fixed:]
}
