package wire

import (
	"errors"
	"reflect"
	"slices"
)

// shape is what a type of one's own looks like on the wire.
type shape struct {
	typ       reflect.Type
	kind      kind
	name      string // kindCoded: of the type
	coder     *coder // kindCoded
	size      int    // kindArray: how many elements
	key, elem *shape
	fields    []field // kindStruct
	extent    extent
	from, to  int // its node in the schema

	// By a planner, of one's own and of all elements, keys, and entries' values.
	leaves []leaf
	ops    []op
}

// field is a field of a struct that crosses.
type field struct {
	name  string
	at    uintptr // in the struct, in bytes
	shape *shape
	leaf  int // how many leaves of the struct stand before it
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

// extent is how many bytes the values of a shape have.
type extent struct {
	least int  // the fewest
	fixed bool // and the most
}

// extent is that of a value of kind k, but for arrays and structs: that of one with nothing in it.
func (k kind) extent() extent {
	switch k {
	case kindString, kindBytes, kindSlice, kindMap, kindCoded:
		return extent{least: 1}
	}
	return extent{kinds[k].width, true}
}

// times is the extent of an array of n.
func (x extent) times(n uint64) (extent, error) {
	if n > uint64(widthMax/max(x.least, 1)) {
		return x, errWidth
	}
	return extent{int(n) * x.least, x.fixed || n == 0}, nil
}

// plus is the extent of x followed by y.
func (x extent) plus(y extent) (extent, error) {
	sum := extent{x.least + y.least, x.fixed && y.fixed}
	if sum.least > widthMax {
		return x, errWidth
	}
	return sum, nil
}

// measure sets s.extent, once all within s has its own.
func (s *shape) measure() (err error) {
	s.extent = s.kind.extent()
	switch s.kind {
	case kindArray:
		s.extent, err = s.elem.extent.times(uint64(s.size))
	case kindStruct:
		for _, f := range s.fields {
			if s.extent, err = s.extent.plus(f.shape.extent); err != nil {
				return err
			}
		}
	}
	return err
}

// hollow reports whether no value of s has bytes.
func (s *shape) hollow() bool { return s.extent == extent{fixed: true} }

// saysLeast reports whether steps for s say how few bytes an element or entry of a peer has. If not
// it is 1, which is mostly so; to say it would take more than twice the schema's bytes.
func (s *shape) saysLeast() bool {
	large := func(s *shape) bool { return s != nil && (s.kind == kindStruct || s.kind == kindArray) }
	return s.kind != kindArray && (large(s.elem) || large(s.key))
}

// field returns the index of the field of that name, or -1.
func (s *shape) field(name []byte) int {
	return slices.IndexFunc(s.fields, func(f field) bool { return f.name == string(name) })
}
