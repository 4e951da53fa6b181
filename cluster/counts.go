package cluster

import "slices"

// counts are what is kept of a node that was forgotten: its life, and the notices of that, see
// link. Without them, as it comes again, it wouldn't hear of those that it misses, and this node
// would take for missing what has come. An earlier life of it stays refused.
type counts struct{ life, wrote, got uint64 }

// forgotten are the counts of nodes, of those that were forgotten last.
type forgotten struct {
	counts map[string]counts
	names  []string // in the order in which they were forgotten
}

// forgottenMax is of how many nodes counts are kept.
const forgottenMax = 1 << 16

// keep keeps the counts of a node, if there are any.
func (f *forgotten) keep(name string, c counts) {
	if c.wrote == 0 && c.got == 0 {
		return
	}
	if len(f.names) >= forgottenMax {
		f.take(f.names[0])
	}
	if f.counts == nil {
		f.counts = map[string]counts{}
	}
	f.counts[name] = c
	f.names = append(f.names, name)
}

// take returns the counts of a node that is known again.
func (f *forgotten) take(name string) counts {
	c, ok := f.counts[name]
	if ok {
		delete(f.counts, name)
		i := slices.Index(f.names, name)
		f.names = slices.Delete(f.names, i, i+1)
	}
	return c
}
