package table

import "encoding/binary"

// Rename makes what key from holds, with its deadline, that of key to, whatever that
// held, and reports whether it was there. The error is ErrTooLarge or nil.
//
//alloc:none
func (t *Table) Rename(from, to []byte, now int64) (ok bool, err error) {
	h := t.hasher.hash(from)
	s, b := t.reach(from, h, now)
	switch {
	case s == nil:
		return false, nil
	case len(to) > t.keyMax:
		return false, ErrTooLarge
	case b.holds(to):
		return true, nil
	}
	kind, when := b.kind(), t.when(b)
	hTo := t.hasher.hash(to)
	sTo, bTo := t.find(to, hTo)
	if sTo != nil && t.past(bTo, now) {
		t.expired++
	}
	at, bTo := t.write(&t.index, sTo, bTo, hTo, to, b.value(), kind)
	t.schedule(at, bTo, when)
	s, b = t.find(from, h)
	b.setKind(String) // the nest, if there is one, is not its own any more
	t.drop(h, s.at)
	t.upkeep()
	return true, nil
}

// Dump is what a key holds, for another table.
type Dump struct {
	Kind     Kind
	ExpireAt int64  // 0: never
	Bytes    []byte // a string; or the fields of a hash, in a form of this package
}

// Dump returns what key holds, in memory that room gives for n bytes, and whether
// it is there. It takes as long as that is large.
func (t *Table) Dump(key []byte, now int64, room func(n int) []byte) (d Dump, ok bool) {
	s, b := t.reach(key, t.hasher.hash(key), now)
	if s == nil {
		return Dump{}, false
	}
	d = Dump{Kind: b.kind(), ExpireAt: t.when(b)}
	if d.Kind != Indexed {
		d.Bytes = room(b.valueLen())
		copy(d.Bytes, b.value())
		return d, true
	}
	size := 0
	for f := t.fieldsOf(b); f.Len() > 0; {
		name, value, _ := f.Next()
		size += 8 + len(name) + len(value)
	}
	d.Bytes = room(size)
	out := d.Bytes[:0]
	for f := t.fieldsOf(b); f.Len() > 0; {
		name, value, _ := f.Next()
		out = binary.LittleEndian.AppendUint32(out, uint32(len(name)))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(value)))
		out = append(append(out, name...), value...)
	}
	return d, true
}

// Load gives key what another table, whose Config was the same, has dumped,
// whatever the key held. The error is ErrTooLarge or nil.
func (t *Table) Load(key []byte, d Dump) error {
	if len(key) > t.keyMax {
		return ErrTooLarge
	}
	value := d.Bytes
	var number [nestNumber]byte
	if d.Kind == Indexed {
		n := t.nests.take()
		for in := d.Bytes; len(in) > 0; {
			k, v := load32(in), load32(in[4:])
			t.setIn(n, in[8:8+k], in[8+k:8+k+v])
			in = in[8+k+v:]
		}
		binary.LittleEndian.PutUint64(number[:], uint64(n))
		value = number[:]
	}
	h := t.hasher.hash(key)
	s, b := t.find(key, h)
	at, b := t.write(&t.index, s, b, h, key, value, d.Kind)
	t.schedule(at, b, d.ExpireAt)
	t.upkeep()
	return nil
}
