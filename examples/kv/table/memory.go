package table

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// memory is where a table's arrays come from. The large ones are the operating system's,
// outside of the collector's heap, whose size sets its pace: a table that grew in it would
// be collected every few megabytes while it is small, and might leave as much garbage
// as it holds when it is large.
//
// What is put back is gone at once: a slice of it that somebody kept doesn't keep it.
type memory struct {
	mu     sync.Mutex       // the table's end comes on another goroutine
	mapped map[*byte][]byte // the arrays that are the system's, by their first bytes
	least  int              // bytes of the smallest of them
}

const (
	// mapLeast is memory.least: a system call and a page fault for every 4 KiB cost little
	// beside filling it.
	mapLeast = 64 << 10
	// unmapMost is how many bytes are given back without a goroutine of their own, as it
	// takes the system some 100 µs for a megabyte.
	unmapMost = 256 << 10
)

// mapsMost is how many arrays of the process are the system's: more come from the heap. Linux
// has some 65,000 mappings for a process, and each array given back may cut one in two.
const mapsMost = 1 << 14

// maps is how many there are.
var maps atomic.Int64

func newMemory() *memory { return &memory{mapped: map[*byte][]byte{}, least: mapLeast} }

// take returns n bytes, all zero.
//
//go:noinline
func (m *memory) take(n int) []byte {
	if n < m.least {
		return make([]byte, n)
	}
	if maps.Add(1) > mapsMost {
		maps.Add(-1)
		return make([]byte, n)
	}
	b := systemMap(n)
	if b == nil {
		maps.Add(-1)
		return make([]byte, n) // the runtime knows how to say that there is no more
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mapped[&b[0]] = b
	return b
}

// put gives back what take returned.
//
//go:noinline
func (m *memory) put(b []byte) {
	first := unsafe.SliceData(b)
	m.mu.Lock()
	b = m.mapped[first]
	delete(m.mapped, first)
	m.mu.Unlock()
	switch {
	case len(b) > unmapMost:
		go unmap(b)
	case b != nil:
		unmap(b)
	}
}

// putAll gives back all that hasn't been: the table was cleared or is unreachable.
func (m *memory) putAll() {
	m.mu.Lock()
	all := m.mapped
	m.mapped = map[*byte][]byte{}
	m.mu.Unlock()
	go func() {
		for _, b := range all {
			unmap(b)
		}
	}()
}

func unmap(b []byte) {
	systemUnmap(b)
	maps.Add(-1)
}

// slots is take for an index.
func (m *memory) slots(n int) []slot {
	return unsafe.Slice((*slot)(unsafe.Pointer(unsafe.SliceData(m.take(n*slotBytes)))), n)
}

// putSlots is put of what slots returned, or of nil.
func (m *memory) putSlots(s []slot) {
	if len(s) > 0 {
		m.put(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*slotBytes))
	}
}
