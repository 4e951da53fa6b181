package wire

import (
	"errors"
	"fmt"
)

// A schema is a byte 1, and a node. A node is its kind, a byte, and
//
//	array    how many elements, the node of an element
//	slice    the node of an element
//	map      the nodes of key and value
//	struct   how many fields; of each its name, and its node
//	coded    the name of the type
//
// with varints for numbers and AppendString for names. All other kinds have nothing more.

// schemaVersion is the first byte of a schema.
const schemaVersion = 1

var (
	errVersion = errors.New("a schema of another version")
	errKind    = errors.New("no kind has this number")
	errName    = errors.New("two fields have this name there")
	errLong    = errors.New("it is too long")
)

// appendNode appends the node of s to its schema, and notes where it stands.
func (s *shape) appendNode(dst []byte) []byte {
	s.from = len(dst)
	dst = append(dst, byte(s.kind))
	switch s.kind {
	case kindArray:
		dst = s.elem.appendNode(AppendUvarint(dst, uint64(s.size)))
	case kindSlice:
		dst = s.elem.appendNode(dst)
	case kindMap:
		dst = s.elem.appendNode(s.key.appendNode(dst))
	case kindStruct:
		dst = AppendUvarint(dst, uint64(len(s.fields)))
		for _, f := range s.fields {
			dst = f.shape.appendNode(AppendString(dst, f.name))
		}
	case kindCoded:
		dst = AppendString(dst, s.name)
	}
	s.to = len(dst)
	return dst
}

// schemaReader passes over the nodes of a schema. It may be any bytes until checkSchema has
// measured all of it; from then on no read fails.
type schemaReader struct {
	Reader
	nodes int // that were passed over
}

// checkSchema returns the error of a schema. It allocates nothing else.
func checkSchema(schema []byte) error {
	var r schemaReader
	r.Reset(schema)
	if len(schema) > schemaMax {
		r.Fail(errLong)
	} else if r.Uint8() != schemaVersion {
		r.Fail(errVersion)
	}
	r.measure(0)
	if err := r.End(); err != nil {
		return fmt.Errorf("wire: schema: %w", err)
	}
	return nil
}

// measure passes over a node, and returns the extent of its values.
func (r *schemaReader) measure(depth int) extent {
	k := kind(r.Uint8())
	r.nodes++
	switch {
	case r.err != nil:
	case !k.known():
		r.Fail(errKind)
	case depth >= depthMax:
		r.Fail(errDepth)
	case r.nodes > nodesMax:
		r.Fail(errNodes)
	}
	if r.err != nil {
		return extent{}
	}
	x, err := k.extent(), error(nil)
	switch k {
	case kindArray:
		n := r.Uvarint()
		x, err = r.measure(depth + 1).times(n)
	case kindSlice:
		r.measure(depth + 1)
	case kindMap:
		r.measure(depth + 1)
		r.measure(depth + 1)
	case kindStruct:
		for n := r.Uvarint(); n > 0 && r.err == nil && err == nil; n-- {
			r.sized() // the name
			x, err = x.plus(r.measure(depth + 1))
		}
	case kindCoded:
		r.sized() // the name
	}
	if err != nil {
		r.Fail(err)
	}
	return x
}
