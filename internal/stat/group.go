package stat

import "sync/atomic"

// Pad keeps words that different threads write from sharing a cache line: two
// lines of 64 bytes, because processors fetch them in pairs.
type Pad [128]byte

// GroupMax is the number of counters in a Group: Publish looks at all of them.
const GroupMax = 32

// Group is up to GroupMax counters of one owner, numbered by constants of its
// package. It is ready when zero, is embedded by value and must not be copied.
type Group struct {
	// Owner only, written and read.
	plain [GroupMax]uint64
	_     Pad
	// Stored by the owner in Publish, loaded by anyone.
	// Invariant: published[i] <= plain[i], and equal after Publish.
	published [GroupMax]atomic.Uint64
	_         Pad
}

// Add adds n to counter i. Owner only; others see it after the next Publish.
//
//alloc:none
func (g *Group) Add(i int, n uint64) { g.plain[i] += n }

// Publish shows the counters to readers. Owner only. It looks at all counters and
// stores those that changed; to remember at Add which did was measured to cost
// more, as there are many Adds to a Publish.
//
//alloc:none
func (g *Group) Publish() {
	for i := range g.plain {
		if v := g.plain[i]; v != g.published[i].Load() {
			g.published[i].Store(v) // pairs with the load in Load
		}
	}
}

// Load returns counter i as of the last Publish. Any goroutine. Two counters that
// are loaded one after the other may stem from different Publishes.
//
//alloc:none
func (g *Group) Load(i int) uint64 { return g.published[i].Load() }
