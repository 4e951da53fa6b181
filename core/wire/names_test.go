package wire

import (
	"errors"
	"reflect"
	"testing"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// guest and room are references, by numbers that only a book knows.
type (
	guest struct{ number uint32 }
	room  struct{ of guest }
	// rooms are seen by guests as guests are.
	roomGuest room
)

func init() {
	RegisterReferences(func(t reflect.Type) (string, any) {
		switch t {
		case reflect.TypeFor[guest]():
			return "test:guest", (*guest)(nil)
		case reflect.TypeFor[room]():
			return "test:guest", (*roomGuest)(nil)
		}
		return "", nil
	})
}

// book is a Names. It adds to each number what is between writer and reader.
type book struct {
	between uint64
	seen    int
}

var errBook = errors.New("no such guest")

func (b *book) at(ref any) *uint32 {
	b.seen++
	switch g := ref.(type) {
	case *guest:
		return &g.number
	case *roomGuest:
		return &g.of.number
	}
	panic("another type")
}

func (b *book) AppendName(dst []byte, ref any) []byte {
	if n := *b.at(ref); n != 0 {
		dst = AppendUvarint(dst, uint64(n)+b.between)
	}
	return dst
}

func (b *book) ReadName(r *Reader, ref any) error {
	at := b.at(ref)
	if r.Len() == 0 {
		return nil
	}
	switch n := r.Uvarint(); {
	case n < b.between:
		return errBook
	case r.Err() == nil:
		*at = uint32(n - b.between)
	}
	return nil
}

// party has references in all places.
type party struct {
	A guest
	B room
	C []guest
	D map[room]guest
	E [2]struct{ F guest }
}

func readBy(c interface {
	Type() reflect.Type
	Read(*Reader, pointer) error
}, in []byte, n Names, v pointer) error {
	var r Reader
	r.Reset(in)
	r.SetNames(n)
	if err := c.Read(&r, v); err != nil {
		return err
	}
	return r.End()
}

// TestReferences are what Names makes of them, wherever they stand in a message.
func TestReferences(t *testing.T) {
	c := mustOf(reflect.TypeFor[party](), true)
	v := party{A: guest{1}, B: room{guest{2}}, C: []guest{{3}, {}, {4}}, D: map[room]guest{{guest{5}}: {6}}, E: [2]struct{ F guest }{{guest{200}}}}
	b := book{between: 300}
	in := AppendBy(c, &b, nil, &v)
	var got party
	if err := readBy(c, in, &b, pointer(&got)); err != nil || !reflect.DeepEqual(v, got) || b.seen != 18 {
		t.Fatalf("%v: %+v, %d seen", err, got, b.seen)
	}
	for i := range in {
		if err := readBy(c, in[:i], &b, pointer(new(party))); err != ErrTruncated {
			t.Fatalf("%d bytes: %v", i, err)
		}
	}
	// of one name, in another version, and skipped by one that doesn't know them
	type later struct {
		A room
		C []room
	}
	older, err := mustOf(reflect.TypeFor[later](), true).Translate(c.AppendSchema(nil))
	if err != nil {
		t.Fatal(err)
	}
	var l later
	if err := readBy(older, in, &b, pointer(&l)); err != nil || l.A.of.number != 1 || len(l.C) != 3 || l.C[2].of.number != 4 {
		t.Fatalf("%v: %+v", err, l)
	}
	type other struct{ A string }
	if _, err := mustOf(reflect.TypeFor[other](), true).Translate(c.AppendSchema(nil)); err == nil {
		t.Fatal("a reference is a string")
	}
	// all of a message, without a length
	whole := mustOf(reflect.TypeFor[guest](), true)
	in = AppendBy(whole, &b, nil, &guest{7})
	var g guest
	if err := readBy(whole, in, &b, pointer(&g)); err != nil || g.number != 7 || len(in) != 2 || whole.own.Keeps() {
		t.Fatal(err, g, in)
	}
}

// TestReferencesThatFail: the error names the field; without Names there is none to read them.
func TestReferencesThatFail(t *testing.T) {
	c := mustOf(reflect.TypeFor[party](), true)
	in := AppendBy(c, &book{}, nil, &party{E: [2]struct{ F guest }{{guest{5}}}})
	err := readBy(c, in, &book{between: 300}, pointer(new(party)))
	if !errors.Is(err, errBook) || err.Error() != "wire: wire.party.E[].F: no such guest" {
		t.Fatal(err)
	}
	var r Reader
	r.Reset(in)
	if err := Read(c, &r, new(party)); err != ErrNames {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
	}()
	Append(c, nil, &party{})
}

// TestReferencesAllocateNothing either way.
func TestReferencesAllocateNothing(t *testing.T) {
	type pair struct {
		A guest
		B [3]room
	}
	c := mustOf(reflect.TypeFor[pair](), true)
	v, b, out, r := pair{A: guest{1}}, &book{between: 5}, make([]byte, 0, 64), new(Reader)
	in := AppendBy(c, b, nil, &v)
	housetest.ZeroAlloc(t, 100_000, func(n int) {
		for range n {
			out = AppendBy(c, b, out[:0], &v)
			v = pair{}
			r.Reset(in)
			r.SetNames(b)
			if Read(c, r, &v) != nil || v.A.number != 1 {
				panic("can't read")
			}
		}
	})
}
