package release

import (
	"slices"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/move"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Releaser is implemented, on the pointer, by messages and replies that hold counted bytes:
// Release is called once, when the stack that carries the value is put, on whichever worker puts
// it, or by a guest. It may tell and begin asks, as guests do. It must not panic: no stack's
// failure would contain that.
type Releaser interface{ Release() }

// Value is where an object has a Releaser.
type Value struct {
	at uintptr  // from the object on
	as Releaser // a nil pointer to its type; nil: it is none
}

// At returns that of what is at a place; v is a nil pointer to its type.
func At(at uintptr, v any) Value {
	as, _ := v.(Releaser)
	return Value{at, as}
}

// Is reports whether it is a Releaser.
func (v Value) Is() bool { return v.as != nil }

// Holds reports whether *T is a Releaser.
func Holds[T any]() bool {
	_, ok := any((*T)(nil)).(Releaser)
	return ok
}

// Values are those of one type of objects.
type Values []Value

// Before returns a function that releases them, and then calls clear.
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
