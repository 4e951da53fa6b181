package main

import "runtime"

// memory is what a process used, in total or during a round.
type memory struct {
	mallocs uint64
	bytes   uint64
	gcs     uint64
	pauses  int64 // ns; unknown: not known
}

const unknown = -1

// since returns what was used after before was read; what shrank counts as 0.
func (m memory) since(before memory) memory {
	less := func(a, b uint64) uint64 { return max(a, b) - b }
	used := memory{less(m.mallocs, before.mallocs), less(m.bytes, before.bytes), less(m.gcs, before.gcs), unknown}
	if m.pauses != unknown {
		used.pauses = m.pauses - before.pauses
	}
	return used
}

// allocated returns what this process has allocated since it began.
func allocated() (memory, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{m.Mallocs, m.TotalAlloc, uint64(m.NumGC), int64(m.PauseTotalNs)}, nil
}

// live returns what survives a collection. Collections that were asked for, as
// that one, aren't counted.
func live() (memory, error) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{m.HeapObjects, m.HeapAlloc, uint64(m.NumGC - m.NumForcedGC), unknown}, nil
}
