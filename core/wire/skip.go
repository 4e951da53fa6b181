package wire

import (
	"encoding/binary"
	"slices"
)

// skip is what a peer sends and has no place here: values in a row. It is written as bytes, not as
// ops, so that a schema of a stranger takes no more than twice its own length.
type skip struct {
	steps []byte
	tail  int // bytes behind what steps pass over
}

// Steps pass over bytes. Numbers are varints.
const (
	stepFixed  = iota // and how many bytes
	stepSized         // a length and as many bytes
	stepBytes         // a length and 1, and as many bytes
	stepArray         // elements; and how many, the length of their steps, their steps
	stepEach          // their number and 1, and as many; and the length of their steps, their steps
	stepFiller        // a byte 0 in place of an element that has no bytes
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
		s.elements(r, 1)
	case kindSlice:
		s.steps = append(s.steps, stepEach)
		s.elements(r, 1)
	case kindMap:
		s.steps = append(s.steps, stepEach)
		s.elements(r, 2)
	}
}

// flush makes a step of the tail.
func (s *skip) flush() {
	if s.tail > 0 {
		s.steps = AppendUvarint(append(s.steps, stepFixed), uint64(s.tail))
		s.tail = 0
	}
}

// elements adds the steps of an element of that many nodes, behind their length.
func (s *skip) elements(r *schemaReader, nodes int) {
	start := len(s.steps)
	for range nodes {
		s.add(r)
	}
	s.flush()
	if len(s.steps) == start {
		s.steps = append(s.steps, stepFiller)
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(s.steps)-start))
	s.steps = slices.Insert(s.steps, start, length[:n]...)
}

// skip passes over what s says.
//
//alloc:none
func (r *Reader) skip(s *skip) {
	if r.pass(s.steps) {
		r.take(s.tail)
	}
}

// pass reports whether r has no error.
func (r *Reader) pass(steps []byte) bool {
	for len(steps) > 0 && r.err == nil {
		step := steps[0]
		steps = steps[1:]
		switch step {
		case stepFixed:
			r.take(stepNumber(&steps))
		case stepSized:
			r.sized()
		case stepBytes:
			r.maybe()
		case stepFiller:
			r.filler()
		case stepArray, stepEach:
			n := 0
			if step == stepArray {
				n = stepNumber(&steps)
			} else {
				n, _ = r.count(1)
			}
			length := stepNumber(&steps)
			for range n {
				if !r.pass(steps[:length]) {
					return false
				}
			}
			steps = steps[length:]
		}
	}
	return r.err == nil
}

// stepNumber takes a number from steps.
func stepNumber(steps *[]byte) int {
	v, n := binary.Uvarint(*steps)
	*steps = (*steps)[n:]
	return int(v)
}
