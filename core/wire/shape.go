package wire

import (
	"errors"
	"fmt"
	"reflect"
)

// shape is what a type looks like on the wire: one's own, made by builder, or that of a peer, read
// from its schema.
type shape struct {
	kind      kind
	name      string // kindCoded: of the type
	size      int    // kindArray: how many elements
	key, elem *shape
	fields    []field // kindStruct

	least int  // the fewest bytes of a value
	fixed bool // least is also the most

	// Of one's own types only.
	typ  reflect.Type
	hand Coded // kindCoded: a nil pointer; nil: foreign codes it, or refers

	foreign Foreign
	refers  *reference
}

// field is a field of a struct that crosses.
type field struct {
	name  string
	at    uintptr // in the struct, in bytes; of one's own types only
	shape *shape
}

// Limits of a shape. A type that is beyond them is refused by Of, so each schema that Of's codecs
// write is read by Translate.
const (
	depthMax  = 32      // as each level is a call when a value is read
	nodesMax  = 4 << 10 // shapes within a shape
	widthMax  = 1 << 29 // the fewest bytes of a value; an int has room for two and more
	schemaMax = 64 << 10
)

var (
	errDepth = errors.New("it is nested too deeply")
	errNodes = errors.New("it has too many parts")
	errWidth = errors.New("its values are too long")
)

// measure sets least and fixed, once all within s has them.
func (s *shape) measure() error {
	switch s.kind {
	case kindString, kindBytes, kindSlice, kindMap, kindCoded:
		s.least = 1
	case kindArray:
		s.fixed = s.elem.fixed || s.size == 0
		if s.size > widthMax/max(s.elem.least, 1) {
			return errWidth
		}
		s.least = s.size * s.elem.least
	case kindStruct:
		s.fixed = true
		for _, f := range s.fields {
			s.least += f.shape.least
			s.fixed = s.fixed && f.shape.fixed
			if s.least > widthMax {
				return errWidth
			}
		}
	default:
		s.least, s.fixed = kinds[s.kind].width, true
	}
	return nil
}

// field returns the field of that name, or nil.
func (s *shape) field(name string) *field {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

// differs says why a value of s isn't one of own; "" if it may be, but for what is within.
func (s *shape) differs(own *shape) string {
	switch {
	case s.kind != own.kind:
		return fmt.Sprintf("%v there, %v here", s.kind, own.kind)
	case s.name != own.name:
		return fmt.Sprintf("%q there, %q here", s.name, own.name)
	case s.size != own.size:
		return fmt.Sprintf("an array of %d there, of %d here", s.size, own.size)
	}
	return ""
}
