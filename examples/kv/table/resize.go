package table

// SetRange writes part over the string of key from offset on, with zeros before it
// where there was nothing, and returns the string's length. A key without a value
// is made; no deadline changes. An empty part changes nothing. Neither argument may
// be memory of this table. The error is ErrTooLarge, ErrKind or nil.
//
//alloc:none
func (t *Table) SetRange(key []byte, offset int, part []byte, now int64) (newLen int, err error) {
	h := t.hasher.hash(key)
	s, b := t.reach(key, h, now)
	oldLen := 0
	if s != nil {
		if b.kind().IsHash() {
			return 0, ErrKind
		}
		oldLen = b.valueLen()
	}
	if len(part) == 0 {
		return oldLen, nil
	}
	if len(key) > t.keyMax || offset > t.valueMax-len(part) {
		return 0, ErrTooLarge
	}
	newLen = max(oldLen, offset+len(part))
	value := t.resize(s, b, h, key, newLen, Edited)
	if offset > oldLen {
		clear(value[oldLen:offset])
	}
	copy(value[offset:], part)
	t.upkeep()
	return newLen, nil
}

// resize gives an entry of the table's index a value of n bytes, and returns it:
// those that it had, then any. Slot and block are those that the key has, or nil.
//
//alloc:none
func (t *Table) resize(s *slot, b block, h uint64, key []byte, n int, kind Kind) []byte {
	need := headerBytes + len(key) + n
	t.live += need
	if s == nil {
		at := t.arena.take(need)
		b = t.arena.block(at)
		b.fill(key, nil, kind)
		b.setValueLen(n)
		t.index.insert(h, at)
		return b.value()
	}
	oldNeed := b.size()
	t.live -= oldNeed
	if t.arena.suits(s.at, need) {
		b.setValueLen(n)
		b.setKind(kind)
		return b.value()
	}
	room := need
	if need > t.arena.blockMax && need > oldNeed { // see extend
		room += need / 4
	}
	to := t.arena.take(room)
	c := t.arena.block(to)
	copy(c, b[:min(oldNeed, need)])
	c.setValueLen(n)
	c.setKind(kind)
	t.replace(s, to)
	return c.value()
}

// splice puts ins bytes, whatever they are, in the place of del bytes of a value,
// and returns the value.
//
//alloc:none
func (t *Table) splice(s *slot, b block, h uint64, at, del, ins int) []byte {
	value, key, kind := b.value(), b.key(), b.kind()
	n := len(value)
	if ins <= del {
		copy(value[at+ins:], value[at+del:])
		return t.resize(s, b, h, key, n-del+ins, kind)
	}
	value = t.resize(s, b, h, key, n-del+ins, kind)
	copy(value[at+ins:], value[at+del:n])
	return value
}
