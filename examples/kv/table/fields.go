package table

// Fields reads the fields of one hash, those of a small one in the order in which
// they came, those of a large one in any. It is a value: a copy is a second reader.
// It is valid until the next call that may change the table.
type Fields struct {
	arena     *arena
	left      int
	packed    packed
	off       int
	main, old []slot
}

// Fields returns a reader of the hash that key holds; of none if there is no such
// key. The error is ErrKind or nil.
//
//alloc:none
func (t *Table) Fields(key []byte, now int64) (Fields, error) {
	s, b, err := t.reachHash(key, t.hasher.hash(key), now)
	if s == nil {
		return Fields{}, err
	}
	return t.fieldsOf(b), nil
}

func (t *Table) fieldsOf(b block) Fields {
	if b.kind() == Packed {
		p := packed(b.value())
		return Fields{left: p.count(), packed: p, off: packedHead}
	}
	x := &t.nests.all[nestOf(b)].index
	return Fields{arena: &t.arena, left: x.count, main: x.main, old: x.old}
}

// Len returns how many fields are left.
//
//alloc:none
func (f *Fields) Len() int { return f.left }

// Next returns the next field, or false at the end.
//
//alloc:none
func (f *Fields) Next() (name, value []byte, ok bool) {
	if f.left == 0 {
		return nil, nil, false
	}
	f.left--
	if f.packed != nil {
		name, value, f.off = f.packed.at(f.off)
		return name, value, true
	}
	for {
		if len(f.main) == 0 {
			f.main, f.old = f.old, nil
		}
		at := f.main[0].at
		f.main = f.main[1:]
		if at != 0 && at != gone {
			b := f.arena.block(at)
			return b.key(), b.value(), true
		}
	}
}

// ScanFields is Scan for the fields of the hash that key holds. Those of a small
// one come all at once. The error is ErrKind or nil.
func (t *Table) ScanFields(key []byte, cursor uint64, n int, now int64, fn func(name, value []byte)) (next uint64, err error) {
	s, b, err := t.reachHash(key, t.hasher.hash(key), now)
	if s == nil {
		return 0, err
	}
	if b.kind() == Indexed {
		return t.scan(&t.nests.all[nestOf(b)].index, cursor, n, func(b block) bool {
			fn(b.key(), b.value())
			return true
		}), nil
	}
	fields := t.fieldsOf(b)
	for name, value, ok := fields.Next(); ok; name, value, ok = fields.Next() {
		fn(name, value)
	}
	return 0, nil
}
