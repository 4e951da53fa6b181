package wire

import "encoding/binary"

// skip is what a peer sends and has no place here: values in a row. It is written as bytes, not as
// ops, so that a schema of a stranger takes no more than twice its own length: no node has steps of
// more than twice its bytes.
type skip struct {
	steps []byte
	tail  int // bytes behind what steps pass over
}

// Steps pass over bytes. Numbers are varints.
const (
	stepFixed  = iota // and how many bytes
	stepSized         // a length and as many bytes
	stepBytes         // a length and 1, and as many bytes
	stepArray         // elements; and how many, the steps of one, stepEnd
	stepEach          // their number and 1, and as many; and the steps of one, stepEnd
	stepFiller        // a byte 0 in place of an element that has no bytes
	stepEnd           // of the steps of an element
)

// add passes over a node of r, and adds what passes over a value of it.
func (s *skip) add(r *schemaReader) {
	behind := schemaReader{Reader: r.Reader}
	if x := behind.measure(0); x.fixed {
		*r = behind
		s.tail += x.least
		return
	}
	k := kind(r.Uint8())
	if k == kindStruct {
		for range r.Uvarint() {
			r.sized() // the name
			s.add(r)
		}
		return
	}
	s.flush()
	switch k {
	case kindString:
		s.steps = append(s.steps, stepSized)
	case kindCoded:
		r.sized() // the name
		s.steps = append(s.steps, stepSized)
	case kindBytes:
		s.steps = append(s.steps, stepBytes)
	case kindArray:
		s.steps = AppendUvarint(append(s.steps, stepArray), r.Uvarint())
		s.element(r, 1)
	case kindSlice:
		s.steps = append(s.steps, stepEach)
		s.element(r, 1)
	case kindMap:
		s.steps = append(s.steps, stepEach)
		s.element(r, 2)
	}
}

// flush makes a step of the tail.
func (s *skip) flush() {
	if s.tail > 0 {
		s.steps = AppendUvarint(append(s.steps, stepFixed), uint64(s.tail))
		s.tail = 0
	}
}

// element adds the steps of an element, or entry, of that many nodes.
func (s *skip) element(r *schemaReader, nodes int) {
	start := len(s.steps)
	for range nodes {
		s.add(r)
	}
	s.flush()
	if len(s.steps) == start {
		s.steps = append(s.steps, stepFiller)
	}
	s.steps = append(s.steps, stepEnd)
}

// skip passes over what s says.
//
//alloc:none
func (r *Reader) skip(s *skip) {
	r.pass(s.steps, true)
	r.take(s.tail)
}

// pass passes over what steps say, up to stepEnd or the end of all, and returns those behind that.
// If there is nothing, it passes over the steps alone.
func (r *Reader) pass(steps []byte, there bool) []byte {
	for len(steps) > 0 && r.err == nil {
		step := steps[0]
		steps = steps[1:]
		n := 0
		if step == stepFixed || step == stepArray {
			v, size := binary.Uvarint(steps)
			n, steps = int(v), steps[size:]
		}
		switch {
		case step == stepEnd:
			return steps
		case step == stepArray || step == stepEach:
			if step == stepEach && there {
				n, _ = r.count(1)
			}
			steps = r.passEach(steps, n, there)
		case !there:
		case step == stepFixed:
			r.take(n)
		case step == stepSized:
			r.sized()
		case step == stepBytes:
			r.maybe()
		case step == stepFiller:
			r.filler()
		}
	}
	return steps
}

// passEach passes over n elements, whose steps it gets, and returns those behind them.
func (r *Reader) passEach(steps []byte, n int, there bool) (behind []byte) {
	if n == 0 || !there {
		return r.pass(steps, false)
	}
	for range n {
		if behind = r.pass(steps, true); r.err != nil {
			break
		}
	}
	return behind
}
