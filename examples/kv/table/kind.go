package table

import "errors"

// Kind is what a key holds and how it is kept.
type Kind uint8

const (
	String  Kind = iota // a string as it was set
	Text                // a string of which the owner says that it is no number: see AsText
	Edited              // a string that Append or SetRange has changed
	Packed              // a hash in one block
	Indexed             // a hash with an index of its own
	field               // an entry of such a hash; nobody outside sees it
)

// IsHash reports whether the key holds a hash.
func (k Kind) IsHash() bool { return k == Packed || k == Indexed }

// ErrKind says that a key holds a hash where a string is needed, or the other way
// round. The table is unchanged.
var ErrKind = errors.New("table: the key holds another kind of value")

// Kind returns what key holds, and whether it is there.
//
//alloc:none
func (t *Table) Kind(key []byte, now int64) (kind Kind, ok bool) {
	s, b := t.reach(key, t.hasher.hash(key), now)
	if s == nil {
		return 0, false
	}
	return b.kind(), true
}
