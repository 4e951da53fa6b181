package table

import "encoding/binary"

// Field returns the value of a field of the hash that key holds, as Get does of a
// key. The error is ErrKind or nil.
//
//alloc:none
func (t *Table) Field(key, name []byte, now int64) (value []byte, ok bool, err error) {
	s, b, err := t.reachHash(key, t.hasher.hash(key), now)
	if s == nil {
		return nil, false, err
	}
	if b.kind() == Packed {
		p := packed(b.value())
		off := p.find(name)
		if off < 0 {
			return nil, false, nil
		}
		_, value, _ = p.at(off)
		return value, true, nil
	}
	s, b = t.findIn(&t.nests.all[nestOf(b)].index, name, t.hasher.hash(name))
	if s == nil {
		return nil, false, nil
	}
	return b.value(), true, nil
}

// reachHash is reach for a key that should hold a hash.
//
//alloc:none
func (t *Table) reachHash(key []byte, h uint64, now int64) (*slot, block, error) {
	s, b := t.reach(key, h, now)
	if s != nil && !b.kind().IsHash() {
		return nil, nil, ErrKind
	}
	return s, b, nil
}

// SetField gives a field of the hash that key holds a value, and reports whether
// the field is new. A key without a value gets a hash, for always. A field that is
// there keeps its place in the order of [Fields], a new one of a small hash becomes
// the last. No argument may be memory of this table. The error is ErrTooLarge,
// ErrKind or nil.
//
//alloc:none
func (t *Table) SetField(key, name, value []byte, now int64) (added bool, err error) {
	h := t.hasher.hash(key)
	s, b, err := t.reachHash(key, h, now)
	switch {
	case err != nil:
		return false, err
	case len(key) > t.keyMax || t.refuses(len(name), len(value)):
		return false, ErrTooLarge
	case s != nil && b.kind() == Indexed:
		added = t.setIn(nestOf(b), name, value)
	default:
		added = t.setPacked(s, b, h, key, name, value)
	}
	t.upkeep()
	return added, nil
}

// setPacked sets a field of a hash that is packed, or not there; it may not stay so.
//
//alloc:none
func (t *Table) setPacked(s *slot, b block, h uint64, key, name, value []byte) (added bool) {
	var p packed
	off, size := -1, packedHead
	if s != nil {
		p = packed(b.value())
		off, size = p.find(name), len(p)
	}
	if off >= 0 && len(value) <= t.packedBytes {
		_, old, _ := p.at(off)
		if len(old) != len(value) && size-len(old)+len(value) <= t.valueMax {
			p = t.splice(s, b, h, off+2+len(name), len(old), len(value))
			old = value
		}
		if len(old) == len(value) {
			p.put(off, name, value)
			return false
		}
	}
	grown := size + 2 + len(name) + len(value)
	fits := max(len(name), len(value)) <= t.packedBytes && grown <= t.valueMax && (s == nil || p.count() < t.packedFields)
	switch {
	case off >= 0 || s != nil && !fits:
		return t.setIn(t.unpack(s, b, h), name, value)
	case !fits:
		return t.setNew(h, key, name, value)
	}
	n := 0
	if s != nil {
		n = p.count()
	}
	p = t.resize(s, b, h, key, grown, Packed)
	p.setCount(n + 1)
	p.put(size, name, value)
	return true
}

// setNew makes a hash that is large from the start.
//
//go:noinline
func (t *Table) setNew(h uint64, key, name, value []byte) bool {
	number := t.nests.take()
	binary.LittleEndian.PutUint64(t.resize(nil, nil, h, key, nestNumber, Indexed), uint64(number))
	return t.setIn(number, name, value)
}

// DeleteField deletes a field of the hash that key holds, and reports whether it
// was there. A hash without fields is deleted. The error is ErrKind or nil.
//
//alloc:none
func (t *Table) DeleteField(key, name []byte, now int64) (deleted bool, err error) {
	h := t.hasher.hash(key)
	s, b, err := t.reachHash(key, h, now)
	if s == nil {
		return false, err
	}
	if b.kind() == Indexed {
		number := nestOf(b)
		deleted = t.deleteIn(number, name)
		if t.nests.all[number].index.count == 0 {
			t.drop(h, s.at)
		}
	} else if p := packed(b.value()); p.find(name) >= 0 {
		deleted = true
		off, n := p.find(name), p.count()
		_, _, next := p.at(off)
		if n == 1 {
			t.drop(h, s.at)
		} else {
			packed(t.splice(s, b, h, off, next-off, 0)).setCount(n - 1)
		}
	}
	t.upkeep()
	return deleted, nil
}

// FieldCount returns how many fields the hash that key holds has, 0 if there is
// no such key. The error is ErrKind or nil.
//
//alloc:none
func (t *Table) FieldCount(key []byte, now int64) (n int, err error) {
	s, b, err := t.reachHash(key, t.hasher.hash(key), now)
	switch {
	case s == nil:
		return 0, err
	case b.kind() == Indexed:
		return t.nests.all[nestOf(b)].index.count, nil
	}
	return packed(b.value()).count(), nil
}
