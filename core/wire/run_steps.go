package wire

import (
	"encoding/binary"
	"unsafe"
)

// follow does what steps say, up to stepEnd or the end of all, and returns those behind that. What
// is read goes into v, a zero value of the level that has the leaves. If none is there, v is nil,
// and it passes over the steps alone.
//
//alloc:none
func (r *Reader) follow(steps []byte, leaves []leaf, v unsafe.Pointer, there bool) []byte {
	for len(steps) > 0 && r.err == nil {
		step := steps[0]
		steps = steps[1:]
		switch {
		case step >= stepLeaf:
			number := int(step & leafMax)
			if number == leafMax {
				more, size := binary.Uvarint(steps)
				number, steps = number+int(more), steps[size:]
			}
			if l := &leaves[number]; step >= stepWithin {
				steps = r.within(steps, l, v, there)
			} else if there {
				r.run(l.ops, v)
			}
		case step == stepEnd:
			return steps
		case step == stepFixed:
			n, size := binary.Uvarint(steps)
			if steps = steps[size:]; there {
				r.take(int(n))
			}
		case step == stepArray:
			n, size := binary.Uvarint(steps)
			steps = r.each(steps[size:], nil, nil, 0, int(n), there)
		case step == stepEach:
			n := 0
			if there {
				n, _ = r.count(1)
			}
			steps = r.each(steps, nil, nil, 0, n, there)
		case !there:
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

// each follows the steps of an element for n that begin at v, and returns those behind them.
func (r *Reader) each(steps []byte, leaves []leaf, v unsafe.Pointer, stride uintptr, n int, there bool) (behind []byte) {
	if n == 0 || !there {
		return r.follow(steps, leaves, nil, false)
	}
	for j := range n {
		if behind = r.follow(steps, leaves, unsafe.Add(v, uintptr(j)*stride), true); r.err != nil {
			break
		}
	}
	return behind
}

// within follows the steps of a leaf that is an array, slice or map of v, and returns those behind.
func (r *Reader) within(steps []byte, l *leaf, v unsafe.Pointer, there bool) []byte {
	s, p, n := l.shape, unsafe.Pointer(nil), l.shape.size
	if there {
		p = unsafe.Add(v, l.at)
	}
	switch {
	case s.kind == kindMap:
		return r.mapWithin(steps, s, p, there)
	case s.kind == kindSlice && there:
		none := false
		if n, none = r.Count(1, s.elem.typ.Size()); !none {
			p = makeSlice(s.typ, p, n)
		}
	}
	return r.each(steps, s.elem.leaves, p, s.elem.typ.Size(), n, there)
}

// mapWithin is within for a map of shape s at p.
func (r *Reader) mapWithin(steps []byte, s *shape, p unsafe.Pointer, there bool) []byte {
	values := r.follow(steps, s.key.leaves, nil, false)
	behind := r.follow(values, s.elem.leaves, nil, false)
	if there {
		r.entries(s.typ, p, 1,
			func(key unsafe.Pointer) { r.follow(steps, s.key.leaves, key, true) },
			func(value unsafe.Pointer) { r.follow(values, s.elem.leaves, value, true) })
	}
	return behind
}
