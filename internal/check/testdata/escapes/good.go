// Package escapes is what the escape gate is tried on: names that begin with
// Good must pass, names that begin with Bad must not.
package escapes

import (
	"errors"
	"fmt"
)

type node struct {
	next *node
	n    int
}

var (
	keep    *node
	keepAny any
	errFull = errors.New("escapes: full")
)

// GoodPlain takes from a free list; the miss is another function.
//
//alloc:none
func GoodPlain(free *node) *node {
	if free == nil {
		return miss()
	}
	n := free
	free = n.next
	local := node{n: n.n}
	keep = pass(&local)
	return n
}

func pass(n *node) *node { return n.next }

//go:noinline
func miss() *node { return &node{} }

// GoodPanic boxes what it panics with.
//
//alloc:none
func GoodPanic(n int) error {
	if n < 0 {
		panic(fmt.Sprintf("escapes: n is %d",
			n))
	}
	if n == 0 {
		panic("escapes: n is zero")
	}
	check(n, "one")
	return errFull
}

// check is inlined, and its panics with it.
func check(n int, word string) {
	if n == 1 {
		panic("escapes: n is " + word)
	}
	if n == 2 {
		panic("escapes: n is two")
	}
	if n == 3 {
		panic(n)
	}
}

// GoodKeep inlines a panic and then keeps what is on the heap already.
//
//alloc:none
func GoodKeep(n *node, word string) {
	check(n.n, word)
	keep = n
}

// GoodAppend appends: whether that grows, only a run can tell.
//
//alloc:none
func GoodAppend(b []byte, n byte) []byte {
	var scratch [8]byte
	tail := make([]byte, 0, len(scratch))
	tail = append(tail, n)
	return append(b, tail...)
}

// GoodClosure keeps its closure on the stack, and unmarked may allocate.
//
//alloc:none
func GoodClosure(ns []int) int {
	sum := 0
	each(ns, func(n int) { sum += n })
	return sum
}

//go:noinline
func each(ns []int, f func(int)) {
	for _, n := range ns {
		f(n)
	}
}

func unmarked() { keepAny = new(int) }

// GoodGeneric is instantiated in the test file only.
//
//alloc:none
func GoodGeneric[T any](into *T, v T, n int) {
	if n < 0 {
		panic(n)
	}
	*into = v
}

// GoodGenericHere is instantiated here.
//
//alloc:none
func GoodGenericHere[T any](v T) T { return v }

var _ = GoodGenericHere[node]
