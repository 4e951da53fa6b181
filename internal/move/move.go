package move

import (
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

const (
	word = unsafe.Sizeof(uintptr(0))
	// wordsMax is the longest type, in words, whose pointers are noted, one bit for each word.
	wordsMax = 64
)

// Of returns a function that moves a value of type t, and allocates nothing. to and from must not
// overlap.
func Of(t reflect.Type) func(to, from unsafe.Pointer) {
	size := t.Size()
	var pointers uint64
	switch has := mark(t, 0, &pointers); {
	case !has:
		return func(to, from unsafe.Pointer) {
			b := unsafe.Slice((*byte)(from), size)
			copy(unsafe.Slice((*byte)(to), size), b)
			clear(b)
		}
	case size <= wordsMax*word:
		return func(to, from unsafe.Pointer) { moveWords(to, from, size, pointers) }
	}
	return func(to, from unsafe.Pointer) {
		v := reflect.NewAt(t, from).Elem()
		reflect.NewAt(t, to).Elem().Set(v)
		v.SetZero()
	}
}

// FuncName returns the name of the function f, as in "main.(*Cache).get"; f is a func value.
func FuncName(f unsafe.Pointer) string {
	name := runtime.FuncForPC(*(*uintptr)(f)).Name()
	return name[strings.LastIndexByte(name, '/')+1:]
}

// moveWords moves a value of size bytes. A set bit in pointers says that the word is a pointer: it
// must be moved as one, for the garbage collector to see it, and other words must not be.
func moveWords(to, from unsafe.Pointer, size uintptr, pointers uint64) {
	for at := uintptr(0); at < size; at += word {
		from, to := unsafe.Add(from, at), unsafe.Add(to, at)
		if pointers&1 != 0 {
			*(*unsafe.Pointer)(to), *(*unsafe.Pointer)(from) = *(*unsafe.Pointer)(from), nil
		} else {
			*(*uintptr)(to), *(*uintptr)(from) = *(*uintptr)(from), 0
		}
		pointers >>= 1
	}
}

// mark sets the bits of the pointers of a t that stands at the offset at, in bytes, and reports
// whether it has any.
func mark(t reflect.Type, at uintptr, pointers *uint64) (has bool) {
	switch t.Kind() {
	case reflect.Array:
		of := t.Elem()
		for i := 0; i < t.Len() && (i == 0 || has); i++ {
			has = mark(of, at+uintptr(i)*of.Size(), pointers)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			has = mark(f.Type, at+f.Offset, pointers) || has
		}
	case reflect.Interface:
		*pointers |= 3 << (at / word)
		has = true
	case reflect.String, reflect.Slice, reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		*pointers |= 1 << (at / word)
		has = true
	}
	return has
}

// Boxed returns an interface that holds p, as a pointer of the type of as, which is a nil pointer.
func Boxed[I any](as I, p unsafe.Pointer) I {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&as))[1] = p
	return as
}

// HasPointers reports whether values of type t have pointers, which the garbage collector follows.
func HasPointers(t reflect.Type) bool { return mark(t, 0, new(uint64)) }

// HasBytes reports whether values of type t may have bytes in memory that is recycled: slices, or
// pointers to what has slices. Strings don't: the garbage collector keeps theirs.
func HasBytes(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return false
	case reflect.Array:
		return t.Len() > 0 && HasBytes(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if HasBytes(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return HasPointers(t)
}
