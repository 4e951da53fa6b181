package table

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// name is that of a field: few, so that they meet.
func (p *play) name() []byte {
	n := int(p.byte()) % 24
	if n == 23 {
		// of a packed hash, or of the table
		return fmt.Appendf(nil, "a name above the limit %010d", n)
	}
	return fmt.Appendf(nil, "%0*d", n%9, n)
}

func (p *play) setField() error {
	key, name := p.key(), p.name()
	value := slices.Clone(p.value())
	e, ok := p.r.reach(string(key), p.now)
	added, err := p.t.SetField(key, name, value, p.now)
	switch {
	case ok && !e.kind.IsHash():
		return expect(err, ErrKind, "SetField", key)
	case p.tooLarge(key, 0) || p.tooLarge(name, len(value)):
		return expect(err, ErrTooLarge, "SetField", key)
	}
	if !ok {
		e.kind = Packed
	}
	e.fields = slices.Clone(e.fields)
	i := e.field(string(name))
	if added != (i < 0) {
		return fmt.Errorf("SetField(%q, %q) added %v", key, name, added)
	}
	if i < 0 {
		e.fields = append(e.fields, pair{string(name), string(value)})
	} else {
		e.fields[i].value = string(value)
	}
	e.kind = max(e.kind, p.kept(e.fields, string(name), string(value)))
	p.r[string(key)] = e
	return expect(err, nil, "SetField", key)
}

// kept is how a hash is kept that just got this field.
func (p *play) kept(fields []pair, name, value string) Kind {
	size := packedHead
	for _, f := range fields {
		size += 2 + len(f.name) + len(f.value)
	}
	if len(fields) > p.t.packedFields || max(len(name), len(value)) > p.t.packedBytes || size > p.t.valueMax {
		return Indexed
	}
	return Packed
}

func (p *play) deleteField() error {
	key, name := p.key(), p.name()
	e, ok := p.r.reach(string(key), p.now)
	deleted, err := p.t.DeleteField(key, name, p.now)
	if ok && !e.kind.IsHash() {
		return expect(err, ErrKind, "DeleteField", key)
	}
	i := e.field(string(name))
	if deleted != (i >= 0) {
		return fmt.Errorf("DeleteField(%q, %q) = %v", key, name, deleted)
	}
	if deleted {
		e.fields = slices.Delete(slices.Clone(e.fields), i, i+1)
		p.r[string(key)] = e
		if len(e.fields) == 0 {
			delete(p.r, string(key))
		}
	}
	return expect(err, nil, "DeleteField", key)
}

func (p *play) setRange() error {
	key, offset := p.key(), int(p.byte())
	part := slices.Clone(p.value())
	e, ok := p.r.reach(string(key), p.now)
	n, err := p.t.SetRange(key, offset, part, p.now)
	switch {
	case e.kind.IsHash():
		return expect(err, ErrKind, "SetRange", key)
	case len(part) == 0:
	case p.tooLarge(key, offset+len(part)):
		return expect(err, ErrTooLarge, "SetRange", key)
	default:
		v := []byte(e.value)
		for len(v) < offset+len(part) {
			v = append(v, 0)
		}
		copy(v[offset:], part)
		e.value, e.kind = string(v), Edited
		p.r[string(key)] = e
	}
	if n != len(e.value) {
		return fmt.Errorf("SetRange(%q) = %d, want %d, it was there: %v", key, n, len(e.value), ok)
	}
	return expect(err, nil, "SetRange", key)
}

func (p *play) rename() error {
	from, to := p.key(), p.key()
	e, ok := p.r.reach(string(from), p.now)
	renamed, err := p.t.Rename(from, to, p.now)
	if ok && p.tooLarge(to, 0) {
		return expect(err, ErrTooLarge, "Rename", to)
	}
	if renamed != ok {
		return fmt.Errorf("Rename(%q, %q) = %v, want %v", from, to, renamed, ok)
	}
	if ok {
		delete(p.r, string(from))
		p.r[string(to)] = e
	}
	return expect(err, nil, "Rename", from)
}

// move dumps a key and loads it as another.
func (p *play) move() error {
	from, to := p.key(), p.key()
	e, ok := p.r.reach(string(from), p.now)
	d, dumped := p.t.Dump(from, p.now, func(n int) []byte { return make([]byte, n) })
	if dumped != ok {
		return fmt.Errorf("Dump(%q): %v, want %v", from, dumped, ok)
	}
	if !ok {
		return nil
	}
	if err := p.t.Load(to, d); p.tooLarge(to, 0) {
		return expect(err, ErrTooLarge, "Load", to)
	} else if err != nil {
		return err
	}
	p.r[string(to)] = e
	return nil
}

// compareFields verifies the entry of a hash.
func (p *play) compareFields(b block, e referenceEntry) error {
	if b.kind() != e.kind || p.t.when(b) != e.expireAt {
		return fmt.Errorf("%q is of kind %d until %d, want %d until %d", b.key(), b.kind(), p.t.when(b), e.kind, e.expireAt)
	}
	if e.past(p.now) {
		return nil
	}
	f, err := p.t.Fields(b.key(), p.now)
	if err != nil {
		return err
	}
	var got []pair
	n := f.Len()
	for name, value, ok := f.Next(); ok; name, value, ok = f.Next() {
		got = append(got, pair{string(name), string(value)})
	}
	var scanned []pair
	for cursor, first := uint64(0), true; cursor != 0 || first; first = false {
		cursor, err = p.t.ScanFields(b.key(), cursor, 2, p.now, func(name, value []byte) {
			scanned = append(scanned, pair{string(name), string(value)})
		})
		if err != nil {
			return err
		}
	}
	want := slices.Clone(e.fields)
	if e.kind == Indexed {
		for _, list := range [][]pair{got, want, scanned} {
			slices.SortFunc(list, func(a, b pair) int { return strings.Compare(a.name, b.name) })
		}
	}
	if count, err := p.t.FieldCount(b.key(), p.now); count != len(want) || n != count || err != nil {
		return fmt.Errorf("FieldCount(%q) = %d, %v, Len %d, want %d", b.key(), count, err, n, len(want))
	}
	if !slices.Equal(got, want) || !slices.Equal(scanned, want) {
		return fmt.Errorf("the fields of %q are %v, scanned %v, want %v", b.key(), got, scanned, want)
	}
	for _, f := range want {
		if value, ok, err := p.t.Field(b.key(), []byte(f.name), p.now); string(value) != f.value || !ok || err != nil {
			return fmt.Errorf("Field(%q, %q) = %q, %v, %v, want %q", b.key(), f.name, value, ok, err, f.value)
		}
	}
	if _, ok, err := p.t.Field(b.key(), []byte("none"), p.now); ok || err != nil {
		return fmt.Errorf("Field(%q) finds what isn't there: %v", b.key(), err)
	}
	return nil
}

// TestBigHash: a hash of many fields, which come and go, beside others, while
// segments are emptied.
func TestBigHash(t *testing.T) {
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 5))
		tab := New(Config{Seed: seed, SegmentBytes: 4096})
		want := map[string]string{}
		for i := range fewer(40_000) {
			name := fmt.Sprint("field ", random.IntN(2000))
			switch n := random.IntN(10); {
			case n < 6:
				value := strings.Repeat("v", random.IntN(1+i/200))
				added, err := tab.SetField([]byte("hash"), []byte(name), []byte(value), 0)
				if _, there := want[name]; added == there || err != nil {
					t.Fatalf("seed %d: added %q: %v, %v", seed, name, added, err)
				}
				want[name] = value
			case n < 9:
				deleted, err := tab.DeleteField([]byte("hash"), []byte(name), 0)
				if _, there := want[name]; deleted != there || err != nil {
					t.Fatalf("seed %d: deleted %q: %v, %v", seed, name, deleted, err)
				}
				delete(want, name)
			default:
				_ = tab.Set([]byte(name), []byte(name), 0)
			}
		}
		if err := tab.check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for name, value := range want {
			if got, _, _ := tab.Field([]byte("hash"), []byte(name), 0); string(got) != value {
				t.Fatalf("seed %d: %q is %q, want %q", seed, name, got, value)
			}
		}
		keys := tab.Len() - 1
		used := tab.Used()
		if !tab.Delete([]byte("hash"), 0) {
			t.Fatalf("seed %d: no hash", seed)
		}
		for calls := 0; tab.Reap(16); calls++ {
			if err := tab.check(); err != nil && calls%16 == 0 || calls > 10_000 {
				t.Fatalf("seed %d, call %d: %v", seed, calls, err)
			}
		}
		if err := tab.check(); err != nil || tab.Len() != keys || tab.Used() > used/2 || tab.nests.bytes != 0 {
			t.Fatalf("seed %d: %d keys, want %d, used %d, then %d: %v", seed, tab.Len(), keys, used, tab.Used(), err)
		}
	}
}

// TestHashesAllocateNothing: fields that are there are read, written, replaced by
// others of their size, in small hashes and large ones.
func TestHashesAllocateNothing(t *testing.T) {
	tab := New(Config{})
	var names [700][]byte
	for i := range names {
		names[i] = fmt.Appendf(nil, "field %03d", i)
	}
	long, short := []byte(strings.Repeat("long", 10)), []byte("short")
	keys := []struct {
		key    []byte
		fields int
	}{{[]byte("small"), 20}, {[]byte("large"), len(names)}}
	round := func() {
		for _, k := range keys {
			for i, name := range names[:k.fields] {
				_, _ = tab.SetField(k.key, name, long, 0)
				_, _ = tab.SetField(k.key, name, short, 0)
				_, _, _ = tab.Field(k.key, name, 0)
				if i%3 == 0 {
					_, _ = tab.DeleteField(k.key, name, 0)
					_, _ = tab.SetField(k.key, name, short, 0)
				}
			}
			_, _ = tab.Rename(k.key, []byte("other"), 0)
			_, _ = tab.Rename([]byte("other"), k.key, 0)
		}
	}
	round()
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Fatalf("%v allocations", n)
	}
	if kind, _ := tab.Kind([]byte("small"), 0); kind != Packed {
		t.Fatal("the small hash is not packed")
	}
	if kind, _ := tab.Kind([]byte("large"), 0); kind != Indexed {
		t.Fatal("the large hash is not indexed")
	}
}

// TestRandom: each key is picked, and none that expired.
func TestRandom(t *testing.T) {
	tab := New(Config{})
	if _, ok := tab.Random(7, 0); ok {
		t.Fatal("a key of an empty table")
	}
	for i := range 100 {
		_ = tab.Set(fmt.Appendf(nil, "%d", i), nil, int64(i%2*10))
	}
	random := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}
	for range 20_000 {
		key, _ := tab.Random(random.Uint64(), 10)
		seen[string(key)] = true
	}
	for i := range 100 {
		if seen[fmt.Sprint(i)] != (i%2 == 0) {
			t.Fatalf("key %d picked: %v", i, seen[fmt.Sprint(i)])
		}
	}
}

// TestRandomIsFair: no key, and no field of a large hash, is picked much more often than another,
// also of those that are left of many more.
func TestRandomIsFair(t *testing.T) {
	const n, each = 100, 1000
	for _, more := range []int{0, 900} {
		tab := New(Config{Seed: 3})
		for i := range n + more {
			name := fmt.Appendf(nil, "%d", i)
			_ = tab.Set(name, nil, 0)
			if _, err := tab.SetField([]byte("hash"), name, bytes.Repeat(name, 100), 0); err != nil {
				t.Fatal(err)
			}
		}
		for i := range more {
			name := fmt.Appendf(nil, "%d", n+i)
			tab.Delete(name, 0)
			tab.DeleteField([]byte("hash"), name, 0)
		}
		if kind, _ := tab.Kind([]byte("hash"), 0); kind != Indexed {
			t.Fatal("the hash is not indexed")
		}
		random := rand.New(rand.NewPCG(1, 2))
		keys, fields := map[string]int{}, map[string]int{}
		for range n * each {
			key, _ := tab.Random(random.Uint64(), 0)
			keys[string(key)]++
			field, _ := tab.RandomField([]byte("hash"), random.Uint64(), 0)
			fields[string(field)]++
		}
		delete(keys, "hash")
		for what, picks := range map[string]map[string]int{"keys": keys, "fields": fields} {
			if len(picks) != n {
				t.Errorf("%d of %d %s were picked", len(picks), n, what)
			}
			for name, got := range picks { // six deviations off
				if got < each*8/10 || got > each*12/10 {
					t.Errorf("%s, of %d more: %s was picked %d times, want about %d", what, more, name, got, each)
				}
			}
		}
	}
}
