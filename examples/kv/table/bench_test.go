package table

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

const benchKeys = 100_000

// filled returns a table with keys of some 10 bytes and values of 64, and its keys
// in an order that no cache likes.
func filled(tb testing.TB, keys int, expireAt int64) (*Table, [][]byte) {
	tb.Helper()
	tab := New(Config{Seed: 1})
	list := make([][]byte, keys)
	value := make([]byte, 64)
	for i := range list {
		list[i] = fmt.Appendf(nil, "key:%d", i)
		if err := tab.Set(list[i], value, expireAt); err != nil {
			tb.Fatal(err)
		}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(keys, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return tab, list
}

// mallocs returns the least of three counts of mallocs during f.
func mallocs(f func()) uint64 {
	least := ^uint64(0)
	var before, after runtime.MemStats
	for range 3 {
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}

// Steady state is when no size class gains or loses a third of its entries.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	value := make([]byte, 400)
	for _, c := range []struct {
		name       string
		operations int
		f          func(tab *Table, key []byte, i int)
	}{
		{"Get", 1_000_000, func(tab *Table, key []byte, i int) { tab.Get(key, 1) }},
		{"Set", 1_000_000, func(tab *Table, key []byte, i int) { _ = tab.Set(key, value[:64], 0) }},
		{"SetFlags", 100_000, func(tab *Table, key []byte, i int) {
			_, _ = tab.SetFlags(key, value[:60], 0, IfPresent|KeepTTL, 1)
		}},
		{"other sizes", 500_000, func(tab *Table, key []byte, i int) { _ = tab.Set(key, value[:i*31%400], 0) }},
		{"with a deadline", 200_000, func(tab *Table, key []byte, i int) {
			_ = tab.Set(key, value[:64], int64(i%10/9))
			tab.ExpireSome(2, 1)
		}},
		{"come and go", 200_000, func(tab *Table, key []byte, i int) {
			if i%10 == 0 && !tab.Delete(key, 1) {
				_ = tab.Set(key, value[:64], 0)
			}
		}},
	} {
		c.operations = fewer(c.operations)
		tab, keys := filled(t, 10_000, 0)
		run := func() {
			for i := range c.operations {
				c.f(tab, keys[i%len(keys)], i)
			}
		}
		run() // to steady state
		if n := mallocs(run); n != 0 {
			t.Errorf("%s: %d mallocs in %d operations", c.name, n, c.operations)
		}
	}
}

// One operation is one Get of a present key, of 100,000.
func BenchmarkGet(b *testing.B) {
	for name, expireAt := range map[string]int64{"forever": 0, "deadline": 1 << 60} {
		b.Run(name, func(b *testing.B) {
			tab, keys := filled(b, benchKeys, expireAt)
			i := 0
			for b.Loop() {
				tab.Get(keys[i], 1)
				if i++; i == len(keys) {
					i = 0
				}
			}
		})
	}
}

// One operation is one Get of a key that is not there.
func BenchmarkGetMiss(b *testing.B) {
	tab, keys := filled(b, benchKeys, 0)
	for i := range keys {
		keys[i] = append(keys[i], 'x')
	}
	i := 0
	for b.Loop() {
		tab.Get(keys[i], 1)
		if i++; i == len(keys) {
			i = 0
		}
	}
}

// One operation is one Set of a present key to a value of its class.
func BenchmarkSet(b *testing.B) {
	tab, keys := filled(b, benchKeys, 0)
	value := make([]byte, 64)
	i := 0
	for b.Loop() {
		_ = tab.Set(keys[i], value, 0)
		if i++; i == len(keys) {
			i = 0
		}
	}
}

// One operation is one Set of a present key to a value of another size, mostly in
// another class.
func BenchmarkSetOtherSize(b *testing.B) {
	tab, keys := filled(b, benchKeys, 0)
	value := make([]byte, 256)
	i, n := 0, 0
	for b.Loop() {
		n = (n + 97) & 255
		_ = tab.Set(keys[i], value[:n], 0)
		if i++; i == len(keys) {
			i = 0
		}
	}
}

// One operation is one Set of a new key, the growth of everything included: the
// table starts empty and is cleared at a million keys.
func BenchmarkInsert(b *testing.B) {
	tab := New(Config{Seed: 1})
	value := make([]byte, 64)
	var key [8]byte
	i := 0
	for b.Loop() {
		if i++; i%1_000_000 == 0 {
			tab.Clear()
		}
		key[0], key[1], key[2], key[3] = byte(i), byte(i>>8), byte(i>>16), byte(i>>24)
		_ = tab.Set(key[:], value, 0)
	}
}

// One operation is one look at a deadline that has not come.
func BenchmarkExpireSome(b *testing.B) {
	tab, _ := filled(b, benchKeys, 1<<60)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n++; n%20 == 0 {
			tab.ExpireSome(20, 1)
		}
	}
}

// One operation is one hash.
func BenchmarkHash(b *testing.B) {
	for _, n := range []int{8, 16, 32, 64, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			key := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				Hash(key, 1)
			}
		})
	}
}

// One operation is a whole collection, with a table of so many entries.
func BenchmarkGC(b *testing.B) {
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			tab, keys := filled(b, n, 1<<60)
			clear(keys)
			keys = nil
			for b.Loop() {
				runtime.GC()
			}
			runtime.KeepAlive(tab)
			runtime.KeepAlive(keys)
		})
	}
}
