package core

import (
	"hash/fnv"
	"slices"

	"github.com/stackhouse-go/stackhouse/internal/copied"
	"github.com/stackhouse-go/stackhouse/stack"
)

// roster is who a router chooses from. It is read without a lock and copied when it
// changes, by whichever goroutine changes it. The zero roster is empty.
type roster struct{ now copied.Value[list] }

// list is the members at one moment; it never changes.
type list struct {
	houses []*stack.House
	points []uint64 // where each stands when keys are hashed: see pointFor
}

var nobody list

func (r *roster) list() *list {
	if l := r.now.Load(); l != nil {
		return l
	}
	return &nobody
}

// change swaps in what f makes of the list. f returns its argument if nothing changes.
func (r *roster) change(f func(*list) *list) {
	r.now.Change(func(l *list) *list {
		if l == nil {
			l = &nobody
		}
		return f(l)
	})
}

// join adds h unless it is a member or has stopped.
func (r *roster) join(h *stack.House) {
	r.change(func(l *list) *list {
		if h.Gone() || slices.Contains(l.houses, h) {
			return l
		}
		at := l.pointFor(h)
		return &list{append(slices.Clip(l.houses), h), append(slices.Clip(l.points), at)}
	})
}

// pointFor returns where h, which joins, stands: by its name if it has one, so that the same actors get
// the same keys whenever they are made and join; otherwise by the first place that is free, so that
// the order in which they join says it, and who leaves and joins again gets its keys back.
func (l *list) pointFor(h *stack.House) (at uint64) {
	if name := h.Name(); name != "" {
		f := fnv.New64a()
		f.Write([]byte(name))
		for at = mix(f.Sum64()); slices.Contains(l.points, at); {
			at = mix(at) // below another parent, or in another system
		}
		return at
	}
	for place := uint64(1); ; place++ {
		if at = mix(place * golden); !slices.Contains(l.points, at) {
			return at
		}
	}
}

func (r *roster) leave(h *stack.House) {
	r.keep(func(member *stack.House) bool { return member != h })
}

// prune has the members leave that have stopped.
//
//go:noinline
func (r *roster) prune() { r.keep(func(h *stack.House) bool { return !h.Gone() }) }

func (r *roster) keep(stays func(*stack.House) bool) {
	r.change(func(l *list) *list {
		var left list
		for i, h := range l.houses {
			if stays(h) {
				left.houses = append(left.houses, h)
				left.points = append(left.points, l.points[i])
			}
		}
		if len(left.houses) == len(l.houses) {
			return l
		}
		return &left
	})
}

// here returns the members that haven't stopped. Nobody may write to it.
func (r *roster) here() []*stack.House {
	for _, h := range r.list().houses {
		if h.Gone() {
			r.prune()
			break
		}
	}
	return r.list().houses
}

// from returns the member at i of l, or the first behind it, round about, that
// hasn't stopped; nil if all have.
func (r *roster) from(l *list, i int) *stack.House {
	if h := l.houses[i]; !h.Gone() {
		return h
	}
	return r.behind(l, i)
}

//go:noinline
func (r *roster) behind(l *list, i int) *stack.House {
	r.prune()
	for range l.houses {
		if i++; i == len(l.houses) {
			i = 0
		}
		if h := l.houses[i]; !h.Gone() {
			return h
		}
	}
	return nil
}

// mix is the finalizer of splitmix64 (Steele, Lea and Flood, 2014): one to
// one, and each bit of x changes half of the result's.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// golden is the step of splitmix64's sequence.
const golden = 0x9e3779b97f4a7c15
