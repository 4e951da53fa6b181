package wire

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/move"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Foreign codes the values of one pointer type whose package doesn't know of this one, such as
// messages of protocol buffers. Any goroutine may call it.
type Foreign interface {
	// Name is what peers know the type by.
	Name() string
	// Append appends what v, a pointer of the type, refers to. It may be nil.
	Append(dst []byte, v any) []byte
	// Read reads all that is left of r, and returns a pointer of the type. It may get any bytes: see
	// Coded.ReadWire. Its errors go to Reader.Fail.
	Read(r *Reader) any
}

// foreigns are what Register and RegisterReferences have got.
var foreigns struct {
	sync.Mutex
	all        []func(reflect.Type) Foreign
	references []func(reflect.Type) (string, any)
}

// Register has Of call makes for each pointer type that has no AppendWire and ReadWire; it returns
// nil for those that aren't its. Call it in an init function.
func Register(makes func(reflect.Type) Foreign) {
	foreigns.Lock()
	defer foreigns.Unlock()
	foreigns.all = append(foreigns.all, makes)
}

// foreignOf returns what codes t; nil: nothing does.
func foreignOf(t reflect.Type) Foreign {
	foreigns.Lock()
	defer foreigns.Unlock()
	if t.Kind() == reflect.Pointer {
		for _, makes := range foreigns.all {
			if f := makes(t); f != nil {
				return f
			}
		}
	}
	return nil
}

// Keep returns an object of a kind that is put with the stack that carries the value; nil: nothing
// was lent, see Lend.
func (r *Reader) Keep(k *pool.Kind) *pool.Object {
	if r.carrier == nil {
		return nil
	}
	o := r.shard.Take(k)
	r.carrier.Give(o)
	return o
}

// Rest reads all that is left. It is valid as long as what Reset was given.
func (r *Reader) Rest() []byte { return r.take(len(r.in)) }

// coder codes the values of a type: by hand, by a Foreign or by Names.
type coder struct {
	hand    Coded // a nil pointer; nil: foreign codes it, or refers
	foreign Foreign
	none    any          // a nil pointer of the type of foreign
	typ     reflect.Type // of none
	refers  *reference
}

// append appends the value at p.
func (c *coder) append(n Names, dst []byte, p unsafe.Pointer) []byte {
	switch {
	case c.refers != nil:
		return c.refers.append(n, dst, move.Boxed(c.refers.pointer, p))
	case c.foreign != nil:
		return c.foreign.Append(dst, move.Boxed(c.none, *(*unsafe.Pointer)(p)))
	}
	return move.Boxed(c.hand, p).AppendWire(dst)
}

// readCoded reads a value into p.
func (r *Reader) readCoded(c *coder, p unsafe.Pointer) {
	if c.refers != nil {
		c.refers.read(r, move.Boxed(c.refers.pointer, p))
		return
	}
	if c.foreign == nil {
		if err := move.Boxed(c.hand, p).ReadWire(r); err != nil {
			r.Fail(err)
		}
		return
	}
	v := c.foreign.Read(r)
	if v != nil && reflect.TypeOf(v) == c.typ {
		*(*unsafe.Pointer)(p) = reflect.ValueOf(v).UnsafePointer()
	}
}
