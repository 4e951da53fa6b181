package wire

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
)

// Steps say how a value of a peer is read whose type differs from one's own. They are bytes that
// refer to one's own plan, so that the schema of a stranger takes no more than twice its length;
// but for a third more where much is in many lists within lists. Each is about the next bytes of
// the value: they are read into a leaf, or passed over. A leaf is one of the level: of all the
// value, or of an element, a key or an entry's value, whose steps stand behind stepWithin. Numbers
// are varints; steps within others have their length before them, so that an empty list costs no
// look at what isn't in it.
const (
	stepFixed  = iota // so many bytes to pass over
	stepSized         // a length, and as many bytes
	stepBytes         // a length and 1, and as many bytes
	stepArray         // elements to pass over: how many, the steps of one
	stepEach          // their number and 1, and as many: the steps of one
	stepFiller        // a byte 0 in place of an element that has no bytes
	stepCopy          // leaves whose memory is their bytes: where in the level, how many bytes

	// These two have the number of a leaf in the bits below; or leafMax there, and what is beyond
	// that as a number behind the step.
	stepLeaf = 0x80 // it is read as one's own
	// An array, slice or map: the fewest bytes of an element or entry, see shape.saysLeast, and the
	// steps of one. Those of an entry are the steps of the key, with their length, and of the value.
	stepWithin = 0xc0
	leafMax    = 0x3f
)

// translator makes the steps for a peer's schema, which checkSchema has found right. Its methods
// report whether the types agree.
type translator struct {
	own   []byte       // schema
	peer  schemaReader // stands before the node of what is next
	steps []byte
	tail  int  // fixed bytes to pass over behind what steps say
	keeps bool // see Decoder
	calls bool

	// To copy behind what steps say; there is no tail then.
	copyAt uintptr
	copies int // bytes

	// Once they don't agree: where, and why.
	path string
	why  any
}

// draft is for steps that aren't complete.
var draft struct {
	sync.Mutex
	steps []byte
}

// translate returns the steps for the schema of a peer, which is right.
func (c *Codec) translate(schema []byte) (t translator, err error) {
	draft.Lock()
	defer draft.Unlock()
	t = translator{own: c.schema, steps: draft.steps[:0]}
	t.peer.Reset(schema[1:])
	if !t.level(c.shape) {
		err = refuse(c.Type().String()+t.path, t.why)
	}
	draft.steps = t.steps
	t.steps = bytes.Clone(t.steps)
	return t, err
}

// level is for a level of one's own.
func (t *translator) level(own *shape) bool {
	ok := t.value(own, own, 0)
	t.flush()
	return ok
}

// value is for a value of a level: the leaf of that number, or a struct whose first one that is.
func (t *translator) value(own, level *shape, number int) bool {
	if node := t.own[own.from:own.to]; own.kind != kindStruct && bytes.HasPrefix(t.peer.in, node) {
		if t.peer.take(len(node)); !own.hollow() {
			t.leaf(level, number)
		}
		return true
	}
	k := kind(t.peer.Uint8())
	switch {
	case k != own.kind:
		return t.refuse(fmt.Sprintf("%v there, %v here", k, own.kind))
	case k == kindStruct:
		return t.fields(own, level, number)
	case k == kindCoded:
		name := t.peer.sized()
		return t.refuse(fmt.Sprintf("%q there, %q here", name[:min(len(name), len(own.name)+100)], own.name))
	case k == kindArray:
		if n := t.peer.Uvarint(); n != uint64(own.size) {
			return t.refuse(fmt.Sprintf("an array of %d there, of %d here", n, own.size))
		}
	}
	return t.within(own, level, number)
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

// within is for an array, slice or map whose parts differ from one's own.
func (t *translator) within(own, level *shape, number int) bool {
	t.flush()
	begin, keeps, calls := len(t.steps), t.keeps, t.calls
	least := 0
	if own.kind == kindMap {
		least = t.ahead()
		if !t.level(own.key) {
			return t.inside("[key]")
		}
		t.enclose(begin, nil)
	}
	least += t.ahead()
	value := len(t.steps)
	if !t.level(own.elem) {
		return t.inside("[]")
	}
	none := len(t.steps) == value && (own.kind != kindMap || value == begin+1) // the length of none
	var start [24]byte
	switch {
	case own.kind == kindArray && (none || own.size == 0):
		t.steps, t.keeps, t.calls = t.steps[:begin], keeps, calls
		return true
	case own.hollow(): // it is no leaf
		t.enclose(begin, AppendUvarint(append(start[:0], stepArray), uint64(own.size)))
		return true
	case none:
		t.steps = append(t.steps, stepFiller)
	}
	head := appendLeaf(start[:0], stepWithin, number)
	if own.saysLeast() {
		head = AppendUvarint(head, uint64(least))
	}
	t.enclose(begin, head)
	return true
}

// enclose puts a head and the length of the steps from begin on before these.
func (t *translator) enclose(begin int, head []byte) {
	head = AppendUvarint(head, uint64(len(t.steps)-begin))
	t.steps = slices.Insert(t.steps, begin, head...)
}

// ahead returns the fewest bytes of a value of the next node.
func (t *translator) ahead() int {
	ahead := schemaReader{Reader: t.peer.Reader}
	return ahead.measure(0).least
}

// leaf adds a step for a leaf that is as one's own.
func (t *translator) leaf(level *shape, number int) {
	ops := level.leaves[number].ops
	if o := &ops[0]; len(ops) == 1 && o.do == opCopy {
		if t.copies == 0 || t.copyAt+uintptr(t.copies) != o.at {
			t.flush()
			t.copyAt = o.at
		}
		t.copies += o.n
		return
	}
	t.flush()
	t.steps = appendLeaf(t.steps, stepLeaf, number)
	t.keeps = t.keeps || keep(ops)
	t.calls = t.calls || call(ops)
}

func appendLeaf(dst []byte, step byte, number int) []byte {
	if number < leafMax {
		return append(dst, step|byte(number))
	}
	return AppendUvarint(append(dst, step|leafMax), uint64(number-leafMax))
}

// flush makes a step of the tail, or of what is to copy.
func (t *translator) flush() {
	if t.tail > 0 {
		t.steps = AppendUvarint(append(t.steps, stepFixed), uint64(t.tail))
		t.tail = 0
	}
	if t.copies > 0 {
		t.steps = AppendUvarint(append(t.steps, stepCopy), uint64(t.copyAt))
		t.steps = AppendUvarint(t.steps, uint64(t.copies))
		t.copies = 0
	}
}

// skip passes over a node, and adds what passes over a value of it.
func (t *translator) skip() {
	behind := schemaReader{Reader: t.peer.Reader}
	if x := behind.measure(0); x.fixed {
		if t.peer = behind; x.least > 0 && t.copies > 0 {
			t.flush()
		}
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
	begin := len(t.steps)
	var start [24]byte
	switch k {
	case kindString:
		t.steps = append(t.steps, stepSized)
	case kindCoded:
		t.peer.sized() // the name
		t.steps = append(t.steps, stepSized)
	case kindBytes:
		t.steps = append(t.steps, stepBytes)
	case kindArray:
		head := AppendUvarint(append(start[:0], stepArray), t.peer.Uvarint())
		t.skipElement(1)
		t.enclose(begin, head)
	case kindSlice:
		t.skipElement(1)
		t.enclose(begin, append(start[:0], stepEach))
	case kindMap:
		t.skipElement(2)
		t.enclose(begin, append(start[:0], stepEach))
	}
}

// skipElement adds the steps of an element, or entry, of that many nodes.
func (t *translator) skipElement(nodes int) {
	begin := len(t.steps)
	for range nodes {
		t.skip()
	}
	t.flush()
	if len(t.steps) == begin {
		t.steps = append(t.steps, stepFiller)
	}
}
