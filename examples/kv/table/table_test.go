package table

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	tab := New(Config{KeyMax: 3, ValueMax: 5})
	for _, c := range []struct {
		key, value string
		want       error
	}{
		{"abc", "12345", nil}, {"abcd", "", ErrTooLarge}, {"abc", "123456", ErrTooLarge}, {"", "", nil},
	} {
		if err := tab.Set([]byte(c.key), []byte(c.value), 0); !errors.Is(err, c.want) {
			t.Errorf("Set(%q, %q): %v, want %v", c.key, c.value, err, c.want)
		}
		if _, err := tab.SetFlags([]byte(c.key), []byte(c.value), 0, 0, 0); !errors.Is(err, c.want) {
			t.Errorf("SetFlags(%q, %q): %v, want %v", c.key, c.value, err, c.want)
		}
	}
	if n, err := tab.Append([]byte("abc"), []byte("6"), 0); n != 0 || !errors.Is(err, ErrTooLarge) {
		t.Errorf("Append past the limit: %d, %v", n, err)
	}
	if n, err := tab.Append([]byte("new"), []byte("123456"), 0); n != 0 || !errors.Is(err, ErrTooLarge) {
		t.Errorf("Append of too much: %d, %v", n, err)
	}
	if v, _ := tab.Get([]byte("abc"), 0); string(v) != "12345" || tab.Len() != 2 {
		t.Errorf("refused calls changed the table: %q, %d keys", v, tab.Len())
	}
}

// What is taken fits the 32 bits of a length, and of an offset. No such slice is
// made: the check is of numbers.
func TestLengthsFit(t *testing.T) {
	tab := New(Config{})
	for _, n := range []int{lengthMax + 1, math.MaxInt32, math.MaxInt} {
		if !tab.refuses(n, 0) || !tab.refuses(0, n) {
			t.Errorf("%d bytes are taken", n)
		}
	}
	if tab.refuses(lengthMax, lengthMax) || uint64(headerBytes+2*lengthMax)*5/4 > math.MaxUint32 {
		t.Error("the limit doesn't fit")
	}
}

func TestConfigRejectsNonsense(t *testing.T) {
	for _, c := range []Config{
		{SegmentBytes: 100}, {SegmentBytes: 128}, {SegmentBytes: 1<<20 + 1}, {SegmentBytes: math.MaxInt}, {SegmentBytes: -1},
		{IndexMin: 7}, {IndexMin: 4}, {KeyMax: -1}, {ValueMax: lengthMax + 1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is taken", c)
				}
			}()
			New(c)
		}()
	}
}

func TestExpiredKeyIsGoneButCounted(t *testing.T) {
	k := []byte("k")
	for name, look := range map[string]func(tab *Table, now int64) bool{
		"Get":      func(tab *Table, now int64) bool { _, ok := tab.Get(k, now); return ok },
		"Exists":   func(tab *Table, now int64) bool { return tab.Exists(k, now) },
		"Delete":   func(tab *Table, now int64) bool { return tab.Delete(k, now) },
		"ExpireAt": func(tab *Table, now int64) bool { _, ok := tab.ExpireAt(k, now); return ok },
		"Expire":   func(tab *Table, now int64) bool { return tab.Expire(k, now+5, now) },
		"Persist":  func(tab *Table, now int64) bool { return tab.Persist(k, now) },
	} {
		tab := New(Config{})
		_ = tab.Set(k, nil, 10)
		if !look(tab, 9) {
			t.Errorf("%s: not found before its time", name)
		}
		_ = tab.Set(k, nil, 10)
		if tab.Len() != 1 {
			t.Errorf("%s: %d keys", name, tab.Len())
		}
		if look(tab, 10) {
			t.Errorf("%s: found at its time", name)
		}
		if s := tab.Stats(); s.Keys != 0 || s.Expired != 1 || s.Deadlines != 0 || s.LiveBytes != 0 {
			t.Errorf("%s: afterwards %+v", name, s)
		}
	}
}

// Expired entries that nobody looks for are found in two rounds.
func TestExpireSomeFindsAll(t *testing.T) {
	for _, n := range []int{1, 3, 20, 1000} {
		tab := New(Config{})
		for i := range 2000 {
			_ = tab.Set(fmt.Appendf(nil, "%d", i), nil, int64(1+i%3*10))
		}
		looked, expired := tab.ExpireSome(n, 0)
		if looked != n || expired != 0 {
			t.Errorf("%d at once: before time %d, %d", n, looked, expired)
		}
		for total := 0; total < 2*2000; total += n {
			tab.ExpireSome(n, 11)
		}
		if s := tab.Stats(); s.Keys != 666 || s.Deadlines != 666 || s.Expired != 2000-666 {
			t.Errorf("%d at once: %+v", n, s)
		}
		if err := tab.check(); err != nil {
			t.Errorf("%d at once: %v", n, err)
		}
	}
}

func TestExpireInThePastDeletes(t *testing.T) {
	tab := New(Config{})
	_ = tab.Set([]byte("k"), nil, 0)
	if !tab.Expire([]byte("k"), 5, 5) || tab.Len() != 0 || tab.Stats().Expired != 0 {
		t.Errorf("%+v", tab.Stats())
	}
}

// Append in place: the arena grows with the value, and few calls move it.
func TestAppendIsAmortised(t *testing.T) {
	tab := New(Config{})
	k := []byte("log")
	want := strings.Repeat("0123456789", 100_000)
	moves, last := 0, uint64(0)
	for i := 0; i < len(want); i += 10 {
		if n, err := tab.Append(k, []byte(want[i:i+10]), 0); n != i+10 || err != nil {
			t.Fatal(n, err)
		}
		if at := tab.entries()[0]; at != last {
			moves, last = moves+1, at
		}
	}
	if got, _ := tab.Get(k, 0); string(got) != want {
		t.Error("another value")
	}
	if moves > 70 {
		t.Errorf("100,000 appends moved the entry %d times", moves)
	}
	if s := tab.Stats(); s.ArenaBytes > 3*len(want) {
		t.Errorf("%d bytes for %d", s.ArenaBytes, len(want))
	}
}

func TestGetLeavesOthersAlone(t *testing.T) {
	tab := New(Config{})
	_ = tab.Set([]byte("a"), []byte("alpha"), 0)
	for i := range 100 {
		_ = tab.Set(fmt.Appendf(nil, "%d", i), []byte("x"), 1)
	}
	v, _ := tab.Get([]byte("a"), 0)
	for i := range 100 {
		tab.Get(fmt.Appendf(nil, "%d", i), 1)
	}
	if string(v) != "alpha" || tab.Len() != 1 {
		t.Errorf("%q, %d keys", v, tab.Len())
	}
	if grown := append(v, '!'); &grown[0] == &v[0] {
		t.Error("appending to a value writes to the table")
	}
}

func TestClear(t *testing.T) {
	tab := New(Config{})
	for i := range 5000 {
		_ = tab.Set(fmt.Appendf(nil, "%d", i), make([]byte, i), int64(i))
	}
	tab.Clear()
	if got, most := tab.Bytes(), 64*slotBytes; got > most || tab.Len() != 0 {
		t.Errorf("%d keys, %d bytes, expected %d", tab.Len(), got, most)
	}
	if err := tab.check(); err != nil {
		t.Error(err)
	}
	_ = tab.Set([]byte("k"), []byte("v"), 0)
	if v, ok := tab.Get([]byte("k"), 0); !ok || string(v) != "v" {
		t.Errorf("%q, %v", v, ok)
	}
}

// The same calls give the same table, to the byte.
func TestDeterminism(t *testing.T) {
	state := func() string {
		p := newPlay(tiny, randomScript(5, 30_000))
		if err := p.run(); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(p.t.index.main, p.t.index.old, p.t.arena.segments, p.t.arena.classes, p.t.deadlines.count, p.t.Stats())
	}
	if a, b := state(), state(); a != b {
		t.Error("two runs differ")
	}
}
