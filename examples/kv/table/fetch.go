package table

import "github.com/stackhouse-go/stackhouse/examples/kv/table/prefetch"

// A key's slot and its entry lie in lines of their own, mostly far away, and a call waits for
// one after the other. Who is about to make several calls has all their lines come at the
// same time: first FetchSlot for each key, then FetchEntry for each.

// line is the bytes of one line of the processor's cache.
const line = 64

// FetchSlot asks the processor for the slot of key, and returns what FetchEntry takes. It
// changes nothing but the time that the next call takes.
//
//alloc:none
func (t *Table) FetchSlot(key []byte) (hash uint64) {
	hash = t.hasher.hash(key)
	slots := t.index.main
	prefetch.Of(&slots[hash&uint64(len(slots)-1)])
	return hash
}

// FetchEntry asks the processor for the first lines of the entry, if there is one. An entry that
// a resize hasn't moved yet isn't looked for.
//
//alloc:none
func (t *Table) FetchEntry(hash uint64) {
	slots := t.index.main
	mask := uint64(len(slots) - 1)
	for i := hash; ; i++ {
		s := &slots[i&mask]
		switch {
		case s.at == 0:
			return
		case s.hash == hash:
			b := t.arena.block(s.at)
			prefetch.Of(&b[0])
			if len(b) > line {
				prefetch.Of(&b[line])
			}
			return
		}
	}
}
