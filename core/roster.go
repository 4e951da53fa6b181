package core

import (
	"hash/fnv"
	"slices"

	"github.com/stackhouse-go/stackhouse/internal/copied"
	"github.com/stackhouse-go/stackhouse/stack"
)

// roster is the members that a router chooses from. It is read without a lock. A change, by any
// goroutine, copies it. The zero roster is empty.
type roster struct{ now copied.Value[list] }

// list is the members at one moment; it never changes.
type list struct {
	houses []*stack.House
	points []uint64 // what stands for each when keys are hashed: see add
	places []uint32 // the number of each without a name, from 1; 0: it has a name
}

var nobody list

func (r *roster) list() *list {
	if l := r.now.Load(); l != nil {
		return l
	}
	return &nobody
}

// change replaces the list by f's result. f returns its argument if nothing changes.
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
		return l.with((*stack.House).Gone, false).add(h)
	})
}

// add returns l with h. The point of a member with a name is a hash of the name: so the same actors
// get the same keys, whenever they are made and join. The point of one without is a hash of the
// first free place: it depends on the order in which members join. A member that leaves and joins
// again gets its keys back, unless another has joined meanwhile.
func (l *list) add(h *stack.House) *list {
	place := uint32(0)
	var at uint64
	if name := h.Name(); name != "" {
		f := fnv.New64a()
		f.Write([]byte(name))
		at = mix(f.Sum64())
	} else {
		place = l.free()
		at = mix(uint64(place) * golden)
	}
	for slices.Contains(l.points, at) { // a member elsewhere has the same name
		at = mix(at)
	}
	return &list{append(slices.Clip(l.houses), h), append(slices.Clip(l.points), at), append(slices.Clip(l.places), place)}
}

// free returns the first place that is free.
func (l *list) free() uint32 {
	taken := make([]bool, len(l.places)+2)
	for _, p := range l.places {
		if int(p) < len(taken) {
			taken[p] = true
		}
	}
	return uint32(1 + slices.Index(taken[1:], false))
}

// with returns the members for which holds returns so; l itself, if these are all.
func (l *list) with(holds func(*stack.House) bool, so bool) *list {
	var left list
	for i, h := range l.houses {
		if holds(h) == so {
			left.houses = append(left.houses, h)
			left.points = append(left.points, l.points[i])
			left.places = append(left.places, l.places[i])
		}
	}
	if len(left.houses) == len(l.houses) {
		return l
	}
	return &left
}

func (r *roster) leave(h *stack.House) {
	r.keep(func(member *stack.House) bool { return member != h })
}

// prune removes the members that have stopped.
//
//go:noinline
func (r *roster) prune() { r.keep(func(h *stack.House) bool { return !h.Gone() }) }

func (r *roster) keep(stays func(*stack.House) bool) {
	r.change(func(l *list) *list { return l.with(stays, true) })
}

// here returns the members that haven't stopped. The caller must not write to it.
func (r *roster) here() []*stack.House {
	for _, h := range r.list().houses {
		if h.Gone() {
			r.prune()
			break
		}
	}
	return r.list().houses
}

// from returns the member at index i of l or, if that has stopped, the next one that hasn't,
// beginning again at the end; nil if all have stopped.
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
