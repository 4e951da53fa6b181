package future

import (
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
)

const (
	// tableMin is the first size of a table, in buckets: most actors wait for a few answers.
	tableMin = 8
	// tableLoad is the number of promises per bucket at which a table doubles.
	tableLoad = 2
	// tableIdle is how many times tableMin a table must have to be halved.
	tableIdle = 4
)

// buckets is the array of a table. Arrays of one length are a kind of pooled object.
type buckets struct {
	pool.Object
	heads []*Promise // Invariant: len is a power of two
}

var bucketKinds = func() (all [32]*pool.Kind) {
	for i := range all {
		n := tableMin << i
		all[i] = pool.NewKind("buckets "+strconv.Itoa(n), pool.Layout{Size: unsafe.Sizeof(buckets{}), Fixed: pool.ObjectSize},
			func() *pool.Object { return &(&buckets{heads: make([]*Promise, n)}).Object },
			func(o *pool.Object) { clear((*buckets)(unsafe.Pointer(o)).heads) }).Keeps()
	}
	return all
}()

// Table finds the waiting promises of one house by id. The promise is its own node. The array comes
// from the shard that methods are given: that of the worker that owns the house, which alone may
// call them. The array doubles at a load of 2 and halves under a load of 1/2, so that it isn't
// moved again and again when the count swings about a bound. The zero Table is empty and has no
// array until the first Insert.
type Table struct {
	array *buckets
	count int
}

// Len returns the number of waiting promises.
func (t *Table) Len() int { return t.count }

// Insert adds p under p.ID, which must not be 0 or in the table.
//
//alloc:none
func (t *Table) Insert(p *Promise, s *pool.Shard) {
	if invariant.Enabled && (p.ID == 0 || t.Has(p.ID)) {
		panic("future: insert under an id that is 0 or waits already")
	}
	if t.array == nil {
		t.open(s)
	} else if t.count >= tableLoad*len(t.array.heads) {
		t.resize(2*len(t.array.heads), s)
	}
	heads := t.array.heads
	head := &heads[p.ID&uint64(len(heads)-1)]
	p.hash = *head
	*head = p
	t.count++
}

// Take removes and returns the promise with this id. nil: it was answered, timed out or cancelled
// before.
//
//alloc:none
func (t *Table) Take(id uint64, s *pool.Shard) *Promise {
	if t.count == 0 {
		return nil
	}
	heads := t.array.heads
	for at := &heads[id&uint64(len(heads)-1)]; *at != nil; at = &(*at).hash {
		if p := *at; p.ID == id {
			*at = p.hash
			p.hash = nil
			t.count--
			if len(heads) >= tableIdle*tableMin && t.count < len(heads)/2 {
				t.resize(len(heads)/2, s)
			}
			return p
		}
	}
	return nil
}

// Has reports whether a promise with this id waits.
func (t *Table) Has(id uint64) bool { return t.Find(id) != nil }

// Find returns the promise with this id, which stays in the table; nil if none waits.
func (t *Table) Find(id uint64) *Promise {
	if t.count == 0 {
		return nil
	}
	for p := t.array.heads[id&uint64(len(t.array.heads)-1)]; p != nil; p = p.hash {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// Any returns a waiting promise, or nil if there is none: the first of the first bucket in use at
// or after *from, or else before it. It writes that bucket to *from: if each call is followed by
// taking out its promise, a loop that empties the table looks at few buckets twice.
func (t *Table) Any(from *int) *Promise {
	if t.count == 0 {
		return nil
	}
	heads := t.array.heads
	for range heads {
		*from &= len(heads) - 1
		if heads[*from] != nil {
			return heads[*from]
		}
		*from++
	}
	return nil
}

// Each calls f for every waiting promise; f must not change the table.
func (t *Table) Each(f func(*Promise)) {
	if t.count == 0 {
		return
	}
	for _, p := range t.array.heads {
		for ; p != nil; p = p.hash {
			f(p)
		}
	}
}

// Some reports whether f does for some waiting promise; f must not change the table.
func (t *Table) Some(f func(*Promise) bool) bool {
	if t.count == 0 {
		return false
	}
	for _, p := range t.array.heads {
		for ; p != nil; p = p.hash {
			if f(p) {
				return true
			}
		}
	}
	return false
}

// Close gives the array back. It panics if promises wait. The table can be used again.
func (t *Table) Close(s *pool.Shard) {
	if t.count != 0 {
		panic("future: close of a table with waiting promises")
	}
	if t.array != nil {
		s.Put(&t.array.Object)
		t.array = nil
	}
}

//go:noinline
func (t *Table) open(s *pool.Shard) { t.array = takeBuckets(tableMin, s) }

// resize moves every promise to an array of n buckets.
//
//go:noinline
func (t *Table) resize(n int, s *pool.Shard) {
	old := t.array
	t.array = takeBuckets(n, s)
	heads := t.array.heads
	for _, p := range old.heads {
		for p != nil {
			next := p.hash
			head := &heads[p.ID&uint64(n-1)]
			p.hash = *head
			*head = p
			p = next
		}
	}
	s.Put(&old.Object)
}

func takeBuckets(n int, s *pool.Shard) *buckets {
	return (*buckets)(unsafe.Pointer(s.Take(bucketKinds[bits.Len(uint(n/tableMin))-1])))
}
