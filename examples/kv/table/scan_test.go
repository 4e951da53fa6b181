package table

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// What stays is seen, while the index grows and shrinks below the scan.
func TestScanSeesWhatStays(t *testing.T) {
	for seed := range uint64(fewer(300)) {
		random := rand.New(rand.NewPCG(seed, 3))
		tab := New(Config{Seed: seed, IndexMin: 8})
		stay := random.IntN(200)
		for i := range stay {
			_ = tab.Set(fmt.Appendf(nil, "stays %d", i), nil, int64(random.IntN(2)*100))
		}
		seen := map[string]bool{}
		cursor, calls, others := uint64(0), 0, 0
		for grow := true; ; calls++ {
			cursor = tab.Scan(cursor, random.IntN(10), 1, func(key, value []byte, kind Kind) { seen[string(key)] = true })
			if cursor == 0 {
				break
			}
			if random.IntN(10) == 0 {
				grow = !grow
			}
			for range random.IntN(100) {
				if grow {
					_ = tab.Set(fmt.Appendf(nil, "comes %d", others), nil, 0)
					others++
				} else if others > 0 {
					others--
					tab.Delete(fmt.Appendf(nil, "comes %d", others), 0)
				}
			}
			if calls > 100_000 {
				t.Fatalf("seed %d: no end", seed)
			}
		}
		for i := range stay {
			if key := fmt.Sprintf("stays %d", i); !seen[key] {
				t.Fatalf("seed %d: %q not seen, %d calls", seed, key, calls)
			}
		}
	}
}

// If nothing changes all is seen once, without what expired.
func TestScanSeesOnce(t *testing.T) {
	tab := New(Config{})
	for i := range 1000 {
		_ = tab.Set(fmt.Appendf(nil, "%d", i), fmt.Appendf(nil, "v%d", i), int64(i%2*10))
	}
	seen := map[string]int{}
	for cursor := tab.Scan(0, 7, 10, count(seen, t)); cursor != 0; {
		cursor = tab.Scan(cursor, 7, 10, count(seen, t))
	}
	for i := range 1000 {
		if key := fmt.Sprint(i); seen[key] != 1-i%2 {
			t.Errorf("%q seen %d times", key, seen[key])
		}
	}
}

func count(seen map[string]int, t *testing.T) func(key, value []byte, kind Kind) {
	return func(key, value []byte, kind Kind) {
		seen[string(key)]++
		if string(value) != "v"+string(key) {
			t.Errorf("%q has value %q", key, value)
		}
	}
}
