package wire

import (
	"bytes"
	"fmt"
)

// Steps say how a value of a peer is read whose type differs from one's own. They are bytes that
// refer to one's own plan, so that the schema of a stranger takes no more than twice its length: no
// node has steps of more than twice its bytes. Each is about the next bytes of the value: they are
// read into a leaf, or passed over. A leaf is one of the level: of all the value, or of an element,
// a key or an entry's value, between stepWithin and stepEnd. Numbers are varints.
const (
	stepFixed  = iota // so many bytes to pass over
	stepSized         // a length, and as many bytes
	stepBytes         // a length and 1, and as many bytes
	stepArray         // elements to pass over; and how many, the steps of one, stepEnd
	stepEach          // their number and 1, and as many; and the steps of one, stepEnd
	stepFiller        // a byte 0 in place of an element that has no bytes
	stepEnd           // of the steps of an element, a key, an entry's value

	// These two have the number of a leaf in the bits below; or leafMax there, and what is beyond
	// that as a number behind the step.
	stepLeaf   = 0x80 // it is read as one's own
	stepWithin = 0xc0 // an array, slice or map; and the steps of an element, or of key and value
	leafMax    = 0x3f
)

// nodeSteps is how many bytes of steps a node needs at most, if those of large arrays, elements'
// ends and fillers are spread over the nodes within.
const nodeSteps = 4

// translator makes the steps for a peer's schema, which checkSchema has found right. Its methods
// report whether the types agree.
type translator struct {
	peer  schemaReader // stands before the node of what is next
	steps []byte       // has room for all
	tail  int          // fixed bytes to pass over behind what steps say
	keeps bool         // see Decoder
	calls bool

	// Once they don't agree: where, and why.
	path string
	why  any
}

// value is for a value of a level: the leaf of that number, or a struct whose first one that is.
func (t *translator) value(own, level *shape, number int) bool {
	k := kind(t.peer.Uint8())
	switch {
	case k != own.kind:
		return t.refuse(fmt.Sprintf("%v there, %v here", k, own.kind))
	case k == kindStruct:
		return t.fields(own, level, number)
	case k == kindArray:
		if n := t.peer.Uvarint(); n != uint64(own.size) {
			return t.refuse(fmt.Sprintf("an array of %d there, of %d here", n, own.size))
		}
		return t.within(own, level, number)
	case k == kindSlice || k == kindMap:
		return t.within(own, level, number)
	case k == kindCoded:
		if name := t.peer.sized(); string(name) != own.name {
			return t.refuse(fmt.Sprintf("%q there, %q here", name[:min(len(name), len(own.name)+100)], own.name))
		}
	}
	t.leaf(level, number)
	return true
}

func (t *translator) refuse(why any) bool {
	t.why = why
	return false
}

// inside says what part of a value holds what is refused.
func (t *translator) inside(part string) bool {
	t.path = part + t.path
	return false
}

// fields is for a struct.
func (t *translator) fields(own, level *shape, number int) bool {
	var found [nodesMax/64 + 1]uint64 // bits: it takes no malloc
	for range t.peer.Uvarint() {
		i := own.field(t.peer.sized())
		if i < 0 {
			t.skip()
			continue
		}
		f := &own.fields[i]
		if found[i/64]&(1<<(i%64)) != 0 {
			t.refuse(errName)
			return t.inside("." + f.name)
		}
		found[i/64] |= 1 << (i % 64)
		if !t.value(f.shape, level, number+f.leaf) {
			return t.inside("." + f.name)
		}
	}
	return true
}

// within is for an array, slice or map. If its parts are as one's own, it is read as one's own.
func (t *translator) within(own, level *shape, number int) bool {
	t.flush()
	start := len(t.steps)
	if own.hollow() { // it is no leaf
		t.steps = AppendUvarint(append(t.steps, stepArray), uint64(own.size))
	} else {
		t.steps = appendLeaf(t.steps, stepWithin, number)
	}
	same, none := true, true
	if own.kind == kindMap {
		if !t.part(own.key, &same, &none) {
			return t.inside("[key]")
		}
		t.steps = append(t.steps, stepEnd)
	}
	if !t.part(own.elem, &same, &none) {
		return t.inside("[]")
	}
	switch {
	case same && !own.hollow():
		t.steps = t.steps[:start]
		t.leaf(level, number)
	case own.kind == kindArray && (none || own.size == 0):
		t.steps = t.steps[:start]
	case none:
		t.steps = append(t.steps, stepFiller, stepEnd)
	default:
		t.steps = append(t.steps, stepEnd)
	}
	return true
}

// part adds the steps of an element, key, or entry's value. It clears same if these aren't those of
// own, and none if there are any.
func (t *translator) part(own *shape, same, none *bool) bool {
	begin := len(t.steps)
	ok := t.value(own, own, 0)
	t.flush()
	*same = *same && t.same(begin, own)
	*none = *none && begin == len(t.steps)
	return ok
}

// same reports whether the steps from begin on read all that of has, in its order.
func (t *translator) same(begin int, of *shape) bool {
	rest, ok := t.steps[begin:], true
	var room [8]byte
	for i := range of.leaves {
		if rest, ok = bytes.CutPrefix(rest, appendLeaf(room[:0], stepLeaf, i)); !ok {
			return false
		}
	}
	return len(rest) == 0
}

// leaf adds a step for a leaf that is as one's own.
func (t *translator) leaf(level *shape, number int) {
	t.flush()
	t.steps = appendLeaf(t.steps, stepLeaf, number)
	ops := level.leaves[number].ops
	t.keeps = t.keeps || keep(ops)
	t.calls = t.calls || call(ops)
}

func appendLeaf(dst []byte, step byte, number int) []byte {
	if number < leafMax {
		return append(dst, step|byte(number))
	}
	return AppendUvarint(append(dst, step|leafMax), uint64(number-leafMax))
}

// flush makes a step of the tail.
func (t *translator) flush() {
	if t.tail > 0 {
		t.steps = AppendUvarint(append(t.steps, stepFixed), uint64(t.tail))
		t.tail = 0
	}
}

// skip passes over a node, and adds what passes over a value of it.
func (t *translator) skip() {
	behind := schemaReader{Reader: t.peer.Reader}
	if x := behind.measure(0); x.fixed {
		t.peer = behind
		t.tail += x.least
		return
	}
	k := kind(t.peer.Uint8())
	if k == kindStruct {
		for range t.peer.Uvarint() {
			t.peer.sized() // the name
			t.skip()
		}
		return
	}
	t.flush()
	switch k {
	case kindString:
		t.steps = append(t.steps, stepSized)
	case kindCoded:
		t.peer.sized() // the name
		t.steps = append(t.steps, stepSized)
	case kindBytes:
		t.steps = append(t.steps, stepBytes)
	case kindArray:
		t.steps = AppendUvarint(append(t.steps, stepArray), t.peer.Uvarint())
		t.skipElement(1)
	case kindSlice:
		t.steps = append(t.steps, stepEach)
		t.skipElement(1)
	case kindMap:
		t.steps = append(t.steps, stepEach)
		t.skipElement(2)
	}
}

// skipElement adds the steps of an element, or entry, of that many nodes.
func (t *translator) skipElement(nodes int) {
	start := len(t.steps)
	for range nodes {
		t.skip()
	}
	t.flush()
	if len(t.steps) == start {
		t.steps = append(t.steps, stepFiller)
	}
	t.steps = append(t.steps, stepEnd)
}
