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
	errName    = errors.New("two fields have one name")
	errLong    = errors.New("it is too long")
)

// appendTo appends the node of s.
func (s *shape) appendTo(dst []byte) []byte {
	dst = append(dst, byte(s.kind))
	switch s.kind {
	case kindArray:
		dst = s.elem.appendTo(AppendUvarint(dst, uint64(s.size)))
	case kindSlice:
		dst = s.elem.appendTo(dst)
	case kindMap:
		dst = s.elem.appendTo(s.key.appendTo(dst))
	case kindStruct:
		dst = AppendUvarint(dst, uint64(len(s.fields)))
		for _, f := range s.fields {
			dst = f.shape.appendTo(AppendString(dst, f.name))
		}
	case kindCoded:
		dst = AppendString(dst, s.name)
	}
	return dst
}

// schemaParser reads a schema, which may be any bytes.
type schemaParser struct {
	r     Reader
	nodes int
}

// parseSchema returns the shape that a schema describes. What it allocates is bounded by nodesMax.
func parseSchema(schema []byte) (*shape, error) {
	if len(schema) > schemaMax {
		return nil, fmt.Errorf("wire: schema: %w", errLong)
	}
	var p schemaParser
	p.r.Reset(schema)
	if p.r.Uint8() != schemaVersion {
		p.r.Fail(errVersion)
	}
	s := p.node(0)
	if err := p.r.End(); err != nil {
		return nil, fmt.Errorf("wire: schema: %w", err)
	}
	return s, nil
}

// node reads a node. It is of no use once p.r has an error.
func (p *schemaParser) node(depth int) *shape {
	s := &shape{kind: kind(p.r.Uint8())}
	p.nodes++
	switch {
	case p.r.Err() != nil:
		return s
	case !s.kind.known():
		return p.fail(s, errKind)
	case depth >= depthMax:
		return p.fail(s, errDepth)
	case p.nodes > nodesMax:
		return p.fail(s, errNodes)
	}
	switch s.kind {
	case kindArray:
		n := p.r.Uvarint()
		if n > widthMax {
			return p.fail(s, errWidth)
		}
		s.size, s.elem = int(n), p.node(depth+1)
	case kindSlice:
		s.elem = p.node(depth + 1)
	case kindMap:
		s.key, s.elem = p.node(depth+1), p.node(depth+1)
	case kindStruct:
		p.fields(s, depth)
	case kindCoded:
		s.name = p.r.String()
	}
	if p.r.Err() == nil {
		if err := s.measure(); err != nil {
			return p.fail(s, err)
		}
	}
	return s
}

func (p *schemaParser) fail(s *shape, err error) *shape {
	p.r.Fail(err)
	return s
}

func (p *schemaParser) fields(s *shape, depth int) {
	names := map[string]bool{}
	for range p.r.Uvarint() {
		f := field{name: p.r.String(), shape: p.node(depth + 1)}
		if names[f.name] {
			p.r.Fail(errName)
		}
		if p.r.Err() != nil {
			return
		}
		names[f.name] = true
		s.fields = append(s.fields, f)
	}
}
