package wire

import (
	"encoding/binary"
	"unsafe"
)

// follow reads a level, which has the leaves, into v as steps say. It is zero.
//
//alloc:none
func (r *Reader) follow(steps []byte, leaves []leaf, v unsafe.Pointer) {
	for len(steps) > 0 && r.err == nil {
		step := steps[0]
		steps = steps[1:]
		switch {
		case step >= stepLeaf:
			number := int(step & leafMax)
			if number == leafMax {
				number, steps = cutNumber(steps)
				number += leafMax
			}
			if l := &leaves[number]; step < stepWithin {
				r.run(l.ops, v)
			} else {
				steps = r.within(steps, l.shape, unsafe.Add(v, l.at))
			}
		case step == stepCopy:
			var at, n int
			at, steps = cutNumber(steps)
			n, steps = cutNumber(steps)
			copy(unsafe.Slice((*byte)(unsafe.Add(v, at)), n), r.take(n))
		case step == stepFixed:
			var n int
			n, steps = cutNumber(steps)
			r.take(n)
		case step == stepSized:
			r.sized()
		case step == stepBytes:
			r.maybe()
		case step == stepFiller:
			r.filler()
		case step == stepArray:
			var n int
			n, steps = cutNumber(steps)
			steps = r.pass(steps, n)
		case step == stepEach:
			n, _ := r.count(1)
			steps = r.pass(steps, n)
		}
	}
}

// cutNumber returns the number at the start of steps, and those behind it.
func cutNumber(steps []byte) (n int, behind []byte) {
	v, size := binary.Uvarint(steps)
	return int(v), steps[size:]
}

// cutSteps returns the steps at the start of steps that have their length before them, and those
// behind.
func cutSteps(steps []byte) (part, behind []byte) {
	n, behind := cutNumber(steps)
	return behind[:n], behind[n:]
}

// pass passes over n elements, and returns the steps behind those of one.
func (r *Reader) pass(steps []byte, n int) (behind []byte) {
	part, behind := cutSteps(steps)
	r.each(part, nil, nil, 0, n)
	return behind
}

// each follows the steps of an element for n that begin at v.
func (r *Reader) each(steps []byte, leaves []leaf, v unsafe.Pointer, stride uintptr, n int) {
	for j := range n {
		if r.follow(steps, leaves, unsafe.Add(v, uintptr(j)*stride)); r.err != nil {
			return
		}
	}
}

// within reads an array, slice or map of shape s at p, and returns the steps behind.
func (r *Reader) within(steps []byte, s *shape, p unsafe.Pointer) (behind []byte) {
	least, stride := 1, s.elem.typ.Size()
	if s.saysLeast() {
		least, steps = cutNumber(steps)
	}
	part, behind := cutSteps(steps)
	switch s.kind {
	case kindArray:
		r.each(part, s.elem.leaves, p, stride, s.size)
	case kindSlice:
		if n, none := r.Count(least, stride); !none {
			r.each(part, s.elem.leaves, makeSlice(s.typ, p, n), stride, n)
		}
	case kindMap:
		r.mapWithin(part, s, p, least)
	}
	return behind
}

// mapWithin is within for a map.
func (r *Reader) mapWithin(steps []byte, s *shape, p unsafe.Pointer, least int) {
	ofKey, ofValue := cutSteps(steps)
	r.entries(s.typ, p, least,
		func(key unsafe.Pointer) { r.follow(ofKey, s.key.leaves, key) },
		func(value unsafe.Pointer) { r.follow(ofValue, s.elem.leaves, value) })
}
