package wire

import (
	"fmt"
	"reflect"
)

// Names codes references: values that mean something in one process alone, such as addresses of
// actors. What they are as bytes depends on who writes them, and to whom. Who has a Names says who
// may use it.
type Names interface {
	// AppendName appends what a reference refers to: ref is what RegisterReferences was given for
	// its type, pointing to it. What can't be named Names notes, as it returns no error.
	AppendName(dst []byte, ref any) []byte
	// ReadName reads all that is left of r, which may be any bytes, into a zero reference.
	ReadName(r *Reader, ref any) error
}

// RegisterReferences has Of call refers for each type that isn't coded otherwise. If values of the
// type are references it returns the name that peers know such ones by, and a nil pointer to the
// type, or to another one with the same memory. Call it in an init function.
func RegisterReferences(refers func(reflect.Type) (name string, pointer any)) {
	foreigns.Lock()
	defer foreigns.Unlock()
	foreigns.references = append(foreigns.references, refers)
}

// reference is how references of one type are coded, at one place in a message.
type reference struct {
	name    string
	pointer any // a nil one
	path    string
}

// referenceOf returns the reference of t; nil: it is none.
func referenceOf(t reflect.Type, path string) *reference {
	foreigns.Lock()
	defer foreigns.Unlock()
	for _, refers := range foreigns.references {
		if name, pointer := refers(t); pointer != nil {
			return &reference{name, pointer, path}
		}
	}
	return nil
}

// SetNames says who reads references, until the next Reset. Without it they are ErrNames.
func (r *Reader) SetNames(n Names) { r.names = n }

// append appends the reference v, a pointer.
func (f *reference) append(n Names, dst []byte, v any) []byte {
	if n == nil {
		panic("wire: a reference in " + f.path + ", and nobody who names it")
	}
	return n.AppendName(dst, v)
}

// read reads one into the reference v.
func (f *reference) read(r *Reader, v any) {
	if r.names == nil {
		r.Fail(ErrNames)
		return
	}
	if err := r.names.ReadName(r, v); err != nil {
		r.Fail(fmt.Errorf("wire: %s: %w", f.path, err))
	}
}
