package table

// Flags are conditions and ways of [Table.SetFlags].
type Flags uint8

const (
	// IfAbsent stores only if the key has no value.
	IfAbsent Flags = 1 << iota
	// IfPresent stores only if the key has one.
	IfPresent
	// KeepTTL leaves the deadline of a key that has a value as it is. A key
	// that has none gets the deadline of the call.
	KeepTTL
	// AsText makes the value one of kind Text. The table treats it as any string.
	AsText
)

// Set gives key a value until expireAt, 0 for always, whatever it held. Key and
// value may be memory of this table. The error is ErrTooLarge or nil.
//
//alloc:none
func (t *Table) Set(key, value []byte, expireAt int64) error {
	if t.refuses(len(key), len(value)) {
		return ErrTooLarge
	}
	h := t.hasher.hash(key)
	s, b := t.find(key, h)
	at, b := t.write(&t.index, s, b, h, key, value, String)
	t.schedule(at, b, expireAt)
	t.upkeep()
	return nil
}

// SetFlags is Set under conditions, and reports whether they held. With IfAbsent
// and IfPresent at once they never do.
//
//alloc:none
func (t *Table) SetFlags(key, value []byte, expireAt int64, flags Flags, now int64) (stored bool, err error) {
	if t.refuses(len(key), len(value)) {
		return false, ErrTooLarge
	}
	h := t.hasher.hash(key)
	s, b := t.find(key, h)
	present := s != nil && !t.past(b, now)
	if present && flags&IfAbsent != 0 || !present && flags&IfPresent != 0 {
		return false, nil
	}
	if s != nil && !present {
		t.expired++ // it is overwritten, as value may alias it
	}
	kind := String
	if flags&AsText != 0 {
		kind = Text
	}
	at, b := t.write(&t.index, s, b, h, key, value, kind)
	if !present || flags&KeepTTL == 0 {
		t.schedule(at, b, expireAt)
	}
	t.upkeep()
	return true, nil
}

// Append adds suffix to the value of key, which keeps its deadline, and returns
// the new length of the value. A key without a value gets suffix, for always.
// Bytes appended one by one are copied some five times each as their entry moves
// from class to class. The error is ErrTooLarge, ErrKind or nil.
//
//alloc:none
func (t *Table) Append(key, suffix []byte, now int64) (newLen int, err error) {
	h := t.hasher.hash(key)
	s, b := t.find(key, h)
	if s == nil || t.past(b, now) {
		if _, err = t.SetFlags(key, suffix, 0, 0, now); err != nil {
			return 0, err
		}
		return len(suffix), nil
	}
	if b.kind().IsHash() {
		return 0, ErrKind
	}
	oldLen := b.valueLen()
	if len(suffix) > t.valueMax-oldLen {
		return 0, ErrTooLarge
	}
	t.extend(s, b, suffix)
	t.arena.block(s.at).setKind(Edited)
	t.upkeep()
	return oldLen + len(suffix), nil
}

func (t *Table) refuses(keyLen, valueLen int) bool { return keyLen > t.keyMax || valueLen > t.valueMax }

// write stores an entry, found by index x, and returns its location and block.
// Slot and block are those that the key has, or nil. A deadline stays.
//
//alloc:none
func (t *Table) write(x *index, s *slot, b block, h uint64, key, value []byte, kind Kind) (uint64, block) {
	need := headerBytes + len(key) + len(value)
	t.live += need
	if s == nil {
		at := t.arena.take(need)
		b = t.arena.block(at)
		b.fill(key, value, kind)
		x.insert(h, at)
		return at, b
	}
	t.live -= b.size()
	if b.kind() == Indexed {
		t.bury(nestOf(b))
	}
	if t.arena.suits(s.at, need) {
		b.setValue(value)
		b.setKind(kind)
		return s.at, b
	}
	to := t.arena.take(need) // before put, as value may alias what is there
	c := t.arena.block(to)
	c.fill(key, value, kind)
	c.setDeadline(b.deadline())
	t.replace(s, to)
	return to, c
}

// extend appends to the value of the entry b in slot s.
//
//alloc:none
func (t *Table) extend(s *slot, b block, suffix []byte) {
	need := b.size() + len(suffix)
	t.live += len(suffix)
	if need <= t.arena.capacity(s.at) {
		b.appendValue(suffix)
		return
	}
	room := need
	if need > t.arena.blockMax { // classes leave room themselves
		room += need / 4
	}
	to := t.arena.take(room)
	c := t.arena.block(to)
	copy(c, b[:b.size()])
	c.appendValue(suffix)
	t.replace(s, to)
}

// replace makes a slot, and the deadline that the entry has, refer to its new
// location, where it is complete, and frees the old one.
//
//alloc:none
func (t *Table) replace(s *slot, to uint64) {
	from := s.at
	s.at = to
	b := t.arena.block(to)
	if d := b.deadline(); d != 0 && b.kind() != field {
		t.deadlines.at(d - 1).entry = to
	}
	t.arena.put(from)
}
