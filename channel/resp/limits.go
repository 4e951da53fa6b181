package resp

import "math"

// Limits bounds what a peer may make this side hold. Fields are in bytes unless they say otherwise.
// Zero means the default; a value below 0 or above 2 GiB - 1 panics at the first use. A limit is
// checked as soon as a length is announced.
type Limits struct {
	// MaxBulk is the longest argument or bulk reply. Default 64 MiB (Redis: 512 MiB).
	MaxBulk int
	// MaxArgs is the most arguments of a request and elements of one array; a pair of a map counts
	// twice. Inline requests are bounded by MaxInline alone. Default 1,048,576.
	MaxArgs int
	// MaxInline is the longest line: an inline request, a length line, a simple
	// string. Default 64 KiB, as in Redis.
	MaxInline int
	// MaxRequest is the longest request or reply in total: the input buffer of a connection must be
	// able to hold so much. Default MaxBulk + 1 MiB.
	MaxRequest int
	// MaxDepth is how many levels of arrays, maps, sets and attributes may nest in a reply. Default
	// 32.
	MaxDepth int
}

// resolved returns l with its defaults filled in.
//
//go:noinline
func (l Limits) resolved() Limits {
	fill(&l.MaxBulk, 64<<20)
	fill(&l.MaxArgs, 1<<20)
	fill(&l.MaxInline, 64<<10)
	fill(&l.MaxRequest, min(l.MaxBulk, math.MaxInt32-1<<20)+1<<20)
	fill(&l.MaxDepth, 32)
	return l
}

func fill(limit *int, whenZero int) {
	if *limit == 0 {
		*limit = whenZero
	}
	if *limit < 0 || *limit > math.MaxInt32 {
		panic("resp: a limit is negative or above 2 GiB - 1")
	}
}
