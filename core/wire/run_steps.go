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
		var n int
		var part []byte
		switch {
		case step >= stepLeaf:
			if n = int(step & leafMax); n == leafMax {
				n, steps = cutNumber(steps)
				n += leafMax
			}
			l, least := &leaves[n], 1
			if step < stepWithin {
				r.run(l.ops, v)
				continue
			}
			if l.shape.saysLeast() {
				least, steps = cutNumber(steps)
			}
			part, steps = cutSteps(steps)
			r.within(part, l.shape, unsafe.Add(v, l.at), least)
		case step == stepFixed:
			n, steps = cutNumber(steps)
			r.take(n)
		case step == stepSized:
			r.sized()
		case step == stepBytes:
			r.maybe()
		case step == stepFiller:
			r.filler()
		case step == stepArray:
			n, steps = cutNumber(steps)
			part, steps = cutSteps(steps)
			r.each(part, nil, nil, 0, n)
		case step == stepEach:
			n, _ = r.count(1)
			part, steps = cutSteps(steps)
			r.each(part, nil, nil, 0, n)
		}
	}
}

// cutNumber returns the number at the start of steps, and those behind it.
func cutNumber(steps []byte) (int, []byte) {
	n, size := binary.Uvarint(steps)
	return int(n), steps[size:]
}

// cutSteps returns the steps at the start of steps that have their length before them, and those
// behind.
func cutSteps(steps []byte) (part, behind []byte) {
	n, steps := cutNumber(steps)
	return steps[:n], steps[n:]
}

// each follows the steps of an element for n that begin at v.
func (r *Reader) each(steps []byte, leaves []leaf, v unsafe.Pointer, stride uintptr, n int) {
	for j := range n {
		if r.follow(steps, leaves, unsafe.Add(v, uintptr(j)*stride)); r.err != nil {
			return
		}
	}
}

// within follows the steps of an element, or entry, for an array, slice or map at p.
func (r *Reader) within(steps []byte, s *shape, p unsafe.Pointer, least int) {
	stride := s.elem.typ.Size()
	switch s.kind {
	case kindArray:
		r.each(steps, s.elem.leaves, p, stride, s.size)
	case kindSlice:
		if n, none := r.Count(least, stride); !none {
			r.each(steps, s.elem.leaves, makeSlice(s.typ, p, n), stride, n)
		}
	case kindMap:
		r.mapWithin(steps, s, p, least)
	}
}

// mapWithin is within for a map.
func (r *Reader) mapWithin(steps []byte, s *shape, p unsafe.Pointer, least int) {
	ofKey, ofValue := cutSteps(steps)
	r.entries(s.typ, p, least,
		func(key unsafe.Pointer) { r.follow(ofKey, s.key.leaves, key) },
		func(value unsafe.Pointer) { r.follow(ofValue, s.elem.leaves, value) })
}
