package release

import (
	"slices"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/move"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Releaser is implemented, on the pointer, by messages and replies that hold counted bytes.
// Release is called once, when the stack that carries the value is put, on whichever worker puts
// it, or by a guest. It may tell and begin asks, as guests do. It must not panic, as the panic
// would be no stack's failure, and nothing would contain it.
type Releaser interface{ Release() }

// Value is a value in a pooled object, and whether it is a Releaser.
type Value struct {
	at uintptr  // its offset in the object, in bytes
	as Releaser // a nil pointer to its type; nil: it isn't a Releaser
}

// At returns the Value at an offset in bytes; v is a nil pointer to its type.
func At(at uintptr, v any) Value {
	as, _ := v.(Releaser)
	return Value{at, as}
}

// Is reports whether v is a Releaser.
func (v Value) Is() bool { return v.as != nil }

// Holds reports whether *T is a Releaser.
func Holds[T any]() bool {
	_, ok := any((*T)(nil)).(Releaser)
	return ok
}

// Values are the Values of one type of pooled object.
type Values []Value

// Before returns a function that releases the Releasers among vs, and then calls clear.
func (vs Values) Before(clear func(*pool.Object)) func(*pool.Object) {
	vs = slices.DeleteFunc(vs, func(v Value) bool { return !v.Is() })
	if len(vs) == 0 {
		return clear
	}
	return func(o *pool.Object) {
		for _, v := range vs {
			move.Boxed(v.as, unsafe.Add(unsafe.Pointer(o), v.at)).Release()
		}
		clear(o)
	}
}
