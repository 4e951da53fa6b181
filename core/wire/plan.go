package wire

import (
	"reflect"
	"strconv"
)

// what an op does with the bytes, and with the value's memory.
type what uint8

const (
	opCopy     what = iota // n bytes of memory are the bytes
	opBools                // n bytes of memory, copied before, are bools: they are looked at
	opNumber16             // n numbers of 16 bits, where memory is another order
	opNumber32
	opNumber64
	opInt  // an int of 32 bits
	opUint // a uint of 32 bits
	opString
	opBytes     // a []byte
	opPoolBytes // a pool.Bytes
	opTime
	opCoded // a value of a type that is coded by hand, by a Foreign or by Names, behind its length
	opWhole // the same, as all of the message
	opArray
	opSlice // a slice
	opMap
	opFiller // a byte 0 in place of an element that has no bytes
)

// op is one thing to do when a value is appended or read.
type op struct {
	do     what
	dense  bool    // the memory of elements is their bytes
	at     uintptr // where in the memory of the value, in bytes
	n      int     // bytes, numbers, or elements of an array
	least  int     // the fewest bytes of an element or entry
	stride uintptr // the memory of an element, in bytes
	key    []op    // of maps
	sub    []op    // of elements
	typ    reflect.Type
	coder  *coder
}

// leaf is a part of a value that isn't a struct and has bytes: a field, or a field of a field.
type leaf struct {
	at    uintptr // where in the memory of the value, in bytes
	shape *shape
	ops   []op // of it alone
}

// narrow says that int and uint have 32 bits of memory.
const narrow = strconv.IntSize == 32

// planner makes the ops for the shapes of one's own.
type planner struct {
	flat bool // the memory of numbers is their encoding
}

// plan makes the leaves and ops of s, and of what is within it.
func (p planner) plan(s *shape) {
	s.leaves = p.leaves(nil, s, 0)
	for _, l := range s.leaves {
		s.ops = join(s.ops, l.ops)
	}
}

// leaves appends the leaves of s, which stands at the offset at, in bytes.
func (p planner) leaves(dst []leaf, s *shape, at uintptr) []leaf {
	switch {
	case s.kind == kindStruct:
		first := len(dst)
		for i := range s.fields {
			f := &s.fields[i]
			f.leaf = len(dst) - first
			dst = p.leaves(dst, f.shape, at+f.at)
		}
	case s.hollow(): // an array
		p.plan(s.elem)
	default:
		dst = append(dst, leaf{at, s, p.ops(s, at)})
	}
	return dst
}

// ops makes those of a leaf.
func (p planner) ops(s *shape, at uintptr) []op {
	switch s.kind {
	case kindArray:
		return p.array(s, at)
	case kindSlice, kindMap:
		return []op{p.many(s, at)}
	case kindCoded:
		return []op{{do: opCoded, at: at, coder: s.coder}}
	case kindBool:
		return []op{{do: opCopy, at: at, n: 1}, {do: opBools, at: at, n: 1}}
	case kindTime:
		return []op{{do: opTime, at: at}}
	case kindString:
		return []op{{do: opString, at: at}}
	case kindBytes:
		if s.typ == bytesType {
			return []op{{do: opPoolBytes, at: at}}
		}
		return []op{{do: opBytes, at: at}}
	}
	return []op{p.number(s, at)}
}

func (p planner) number(s *shape, at uintptr) op {
	n, width := s.kind.parts()
	switch k := s.typ.Kind(); {
	case k == reflect.Int && narrow:
		return op{do: opInt, at: at}
	case k == reflect.Uint && narrow:
		return op{do: opUint, at: at}
	case p.flat || width == 1:
		return op{do: opCopy, at: at, n: n * width}
	}
	return op{do: [...]what{2: opNumber16, 4: opNumber32, 8: opNumber64}[width], at: at, n: n}
}

func (p planner) array(s *shape, at uintptr) []op {
	p.plan(s.elem)
	sub, stride := s.elem.ops, s.elem.typ.Size()
	switch {
	case dense(sub, stride):
		return []op{{do: opCopy, at: at, n: s.size * int(stride)}}
	case s.elem.kind == kindBool:
		return []op{{do: opCopy, at: at, n: s.size}, {do: opBools, at: at, n: s.size}}
	}
	return []op{{do: opArray, at: at, n: s.size, stride: stride, sub: sub}}
}

// many makes the op of a slice or a map.
func (p planner) many(s *shape, at uintptr) op {
	p.plan(s.elem)
	o := op{do: opSlice, at: at, typ: s.typ, stride: s.elem.typ.Size(), least: s.elem.extent.least, sub: s.elem.ops}
	if s.kind == kindMap {
		p.plan(s.key)
		o.do = opMap
		o.least += s.key.extent.least
		o.key = s.key.ops
	}
	if o.least == 0 {
		o.least, o.sub = 1, []op{{do: opFiller}}
	}
	o.dense = dense(o.sub, o.stride)
	return o
}

// join appends the ops of a leaf to those of the leaves before, as one with the last if possible.
func join(dst, more []op) []op {
	for _, o := range more {
		i := len(dst) - 1
		for o.do == opCopy && i >= 0 && dst[i].do == opBools { // they are looked at once copied
			i--
		}
		if i >= 0 && (o.do == opCopy || o.do == opBools) && dst[i].do == o.do && dst[i].at+uintptr(dst[i].n) == o.at {
			dst[i].n += o.n
			continue
		}
		dst = append(dst, o)
	}
	return dst
}

// dense reports whether ops copy a whole element of that many bytes.
func dense(ops []op, stride uintptr) bool {
	return len(ops) == 1 && ops[0].do == opCopy && ops[0].n == int(stride)
}
