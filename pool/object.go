package pool

import (
	"sync/atomic"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// Object is the head of everything that is pooled. It is embedded, by value,
// somewhere in the pooled struct; its Kind knows where.
type Object struct {
	next *Object // owned by the list or chain that holds the object
	list *list   // where it is at home; written once
	// raised at take and at put by the holder, and at the first Hold. Invariant: odd while taken
	// and never held
	gen  uint32
	held int32 // puts to come of what is held; atomic, as each may be on another worker
}

// Hold has o, which the caller has taken, go home once it has been put once more: somebody else
// uses it too. Whoever puts it last clears it.
func (o *Object) Hold() {
	if o.Taken() { // by the caller alone
		o.gen++
		o.held = 2
	} else if atomic.AddInt32(&o.held, 1) < 2 {
		panic("pool: hold of an object that is not taken")
	}
}

// last counts a put of o, which isn't the caller's alone, and reports whether it was the last:
// then it is.
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
// and in one from the first Hold on. Only the holder may read it: who meets an object again and
// noted its generation can tell that it was recycled meanwhile.
func (o *Object) Generation() uint32 { return o.gen }

// Taken reports whether the object is out of its pool, and was never held. Only who has taken it
// may ask.
func (o *Object) Taken() bool { return o.gen&1 == 1 }

// Alone reports whether nobody but the caller, who has taken the object, holds it any more.
func (o *Object) Alone() bool { return o.Taken() || atomic.LoadInt32(&o.held) == 1 }

// Link returns where the holder of an object that is taken may chain it to others. Nothing else
// is there until it is put.
func (o *Object) Link() **Object { return &o.next }

// Home returns the shard that the object goes back to.
func (o *Object) Home() *Shard { return o.list.shard }

// Kind returns what the object is.
func (o *Object) Kind() *Kind { return o.list.kind }

// Kind describes one type of pooled object. Kinds are made once, mostly in
// package variables, and live as long as the process.
type Kind struct {
	id     int
	name   string
	layout Layout
	keeps  bool // clear leaves scratch behind, so memory isn't zero at take
	shared bool // its last holder isn't alone in writing to it
	make   func() *Object
	clear  func(*Object)
}

// Layout says where in a pooled struct its Object stands, in bytes.
type Layout struct {
	Size   uintptr // of the whole struct
	Offset uintptr // of the Object
	// from the Object on: what make writes once and clear leaves alone; at least the Object
	// itself
	Fixed uintptr
}

// ObjectSize is the smallest Layout.Fixed.
const ObjectSize = unsafe.Sizeof(Object{})

var kinds atomic.Int64

// NewKind registers a type; any goroutine may call it. The function make
// allocates one; clear, called at each put on whichever worker puts, zeroes
// everything but the fixed part.
func NewKind(name string, layout Layout, make func() *Object, clear func(*Object)) *Kind {
	if layout.Fixed < ObjectSize || layout.Offset+layout.Fixed > layout.Size {
		panic("pool: impossible layout of " + name)
	}
	return &Kind{id: int(kinds.Add(1)) - 1, name: name, layout: layout, make: make, clear: clear}
}

// Keeps declares that clear leaves scratch memory in the object for its next
// life, which exempts it from the check for writes after put.
func (k *Kind) Keeps() *Kind {
	k.keeps = true
	return k
}

// Shared declares that others than the holder who puts may still write to the object, to
// bytes that clear leaves alone, until it is taken again. It exempts the kind from being announced
// to the race detector as written when it is put.
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
