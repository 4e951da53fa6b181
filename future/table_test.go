package future

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
)

func panics(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	f()
}

// fill inserts promises under the ids 1 to n.
func fill(t *Table, s *pool.Shard, n int) []Promise {
	all := make([]Promise, n)
	for i := range all {
		all[i].ID = uint64(i + 1)
		t.Insert(&all[i], s)
	}
	return all
}

func TestNoArrayUntilInsert(t *testing.T) {
	var s pool.Shard
	var table Table
	from := 0
	if table.Take(1, &s) != nil || table.Has(1) || table.Any(&from) != nil || table.Len() != 0 {
		t.Error("the zero table holds something")
	}
	table.Close(&s)
	if table.array != nil || s.Made() != 0 {
		t.Error("the zero table took an array")
	}
	p := Promise{ID: 1}
	table.Insert(&p, &s)
	if table.array == nil || len(table.array.heads) != tableMin || s.Made() != 1 {
		t.Error("the first insert takes the smallest array")
	}
}

func TestGrowAndShrink(t *testing.T) {
	var s pool.Shard
	var table Table
	all := make([]Promise, 300)
	insert := func(upTo int) {
		for i := table.Len(); i < upTo; i++ {
			all[i].ID = uint64(i + 1)
			table.Insert(&all[i], &s)
		}
	}
	take := func(downTo int) {
		for i := table.Len(); i > downTo; i-- {
			table.Take(uint64(i), &s)
		}
	}
	for _, c := range []struct {
		to      func(int)
		count   int
		buckets int
	}{
		{insert, 16, 8}, {insert, 17, 16}, // beyond a load of 2
		{insert, 32, 16}, {insert, 33, 32},
		{insert, 256, 128}, {insert, 257, 256},
		{take, 128, 256}, {take, 127, 128}, // under half full
		{take, 64, 128}, {insert, 256, 128}, {take, 63, 64},
		{take, 32, 64}, {take, 31, 32},
		{take, 16, 32}, {take, 15, 16},
		{take, 0, 16}, // not 4 times the first size
		{insert, 32, 16}, {insert, 33, 32},
	} {
		c.to(c.count)
		if table.Len() != c.count || len(table.array.heads) != c.buckets {
			t.Errorf("%d promises, want %d; %d buckets, want %d", table.Len(), c.count, len(table.array.heads), c.buckets)
		}
	}
	if s.Outstanding() != 1 {
		t.Errorf("%d arrays outstanding, want 1", s.Outstanding())
	}
}

// A house moves to another worker: what its table held of the former one's goes home.
func TestArraysGoHome(t *testing.T) {
	var former, latter pool.Shard
	var table Table
	fill(&table, &former, 16)
	p := Promise{ID: 17}
	table.Insert(&p, &latter)
	if latter.Made() != 1 || former.Outstanding() != 1 {
		t.Errorf("%d arrays made by the latter, %d of the former outstanding", latter.Made(), former.Outstanding())
	}
	latter.Flush()
	if former.Outstanding() != 0 {
		t.Error("the former worker's array is not home")
	}
	for id := range uint64(17) {
		if got := table.Take(id+1, &latter); got == nil || got.ID != id+1 {
			t.Errorf("promise %d is lost", id+1)
		}
	}
	table.Close(&latter)
	if latter.Outstanding() != 0 {
		t.Error("the latter worker's array is not home")
	}
}

// Any finds every promise while what it finds is taken out, with others.
func TestAnyWhileTaking(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		n := []int{1, 17, 100, 5_000}[seed%4]
		var s pool.Shard
		var table Table
		all := fill(&table, &s, n)
		if seed%3 == 0 { // empty ranges
			for id := range uint64(n) / 2 {
				table.Take(id, &s)
			}
		}
		from := []int{0, r.IntN(100_000), -1}[seed%3]
		for left := table.Len(); left > 0; left-- {
			p := table.Any(&from)
			if p == nil || !table.Has(p.ID) {
				t.Fatalf("seed %d: %d wait, Any = %v", seed, left, p)
			}
			if again := table.Any(&from); again != p {
				t.Fatalf("seed %d: Any found another, but nothing was taken", seed)
			}
			table.Take(p.ID, &s)
			if other := &all[r.IntN(n)]; left > 1 && r.IntN(3) == 0 && table.Take(other.ID, &s) != nil {
				left--
			}
		}
		if p := table.Any(&from); p != nil || table.Len() != 0 {
			t.Fatalf("seed %d: Any of an empty table = %v, Len %d", seed, p, table.Len())
		}
	}
}

func TestSome(t *testing.T) {
	var s pool.Shard
	var table Table
	seen := 0
	all := func(*Promise) bool { seen++; return false }
	if table.Some(all) || seen != 0 {
		t.Error("the zero table holds something")
	}
	fill(&table, &s, 100)
	if table.Some(all) || seen != 100 {
		t.Errorf("%d of 100 promises", seen)
	}
	if seen = 0; !table.Some(func(p *Promise) bool { seen++; return p.ID%10 == 0 }) || seen > 91 {
		t.Errorf("%d promises before a tenth of them", seen)
	}
}

func TestClose(t *testing.T) {
	var s pool.Shard
	var table Table
	fill(&table, &s, 100)
	panics(t, "future: close of a table with waiting promises", func() { table.Close(&s) })
	for id := range uint64(100) {
		table.Take(id+1, &s)
	}
	table.Close(&s)
	if table != (Table{}) || s.Outstanding() != 0 {
		t.Errorf("closed: %+v, %d arrays outstanding", table, s.Outstanding())
	}
	table.Close(&s)
	fill(&table, &s, 1) // as new
	if table.Len() != 1 || len(table.array.heads) != tableMin {
		t.Errorf("reopened: %d promises, %d buckets", table.Len(), len(table.array.heads))
	}
	for i, head := range table.array.heads {
		if (head != nil) != (i == 1) {
			t.Errorf("reopened: bucket %d is %v", i, head)
		}
	}
}

func TestInsertChecks(t *testing.T) {
	if !invariant.Enabled {
		t.Skip("needs the build tag invariants")
	}
	const want = "future: insert under an id that is 0 or waits already"
	var s pool.Shard
	var table Table
	panics(t, want, func() { table.Insert(&Promise{}, &s) })
	all := fill(&table, &s, 1)
	panics(t, want, func() { table.Insert(&all[0], &s) })
	panics(t, want, func() { table.Insert(&Promise{ID: 1}, &s) })
	if table.Len() != 1 {
		t.Errorf("Len %d after refused inserts", table.Len())
	}
}

func TestPromiseOf(t *testing.T) {
	all := make([]Promise, 3)
	for i := range all {
		if PromiseOf(&all[i].Node) != &all[i] {
			t.Errorf("promise %d: PromiseOf its node is another", i)
		}
	}
}

// noMallocs requires f to allocate nothing at all, once it has run.
// Others may allocate meanwhile, so the least of three tries counts.
func noMallocs(t *testing.T, f func()) {
	t.Helper()
	f()
	least := uint64(math.MaxUint64)
	for try := 0; try < 3 && least > 0; try++ {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least != 0 {
		t.Errorf("%d mallocs", least)
	}
}

// Traffic that swings allocates in its first swing only.
func TestSwingWithoutMallocs(t *testing.T) {
	var s pool.Shard
	var table Table
	all := make([]Promise, 100_000)
	first, next := uint64(0), uint64(0) // ids first up to but not including next wait
	noMallocs(t, func() {
		for range 3 {
			for next-first < uint64(len(all)) {
				p := &all[next%uint64(len(all))]
				p.ID = next + 1
				table.Insert(p, &s)
				next++
			}
			for ; next-first > 10; first++ {
				if table.Take(first+1, &s) == nil {
					t.Fatalf("promise %d is lost", first+1)
				}
			}
		}
	})
	if s.Outstanding() != 1 {
		t.Errorf("%d arrays taken, want 1", s.Outstanding())
	}
}

func TestNoMallocs(t *testing.T) {
	var s pool.Shard
	p := &Promise{ID: 1}
	noMallocs(t, func() {
		for range 100_000 { // the life of an actor that asks once
			var table Table
			table.Insert(p, &s)
			from := 0
			if !table.Has(1) || table.Any(&from) != p || table.Take(1, &s) != p || table.Take(1, &s) != nil {
				t.Fatal("the promise was not found once")
			}
			table.Close(&s)
		}
	})
}
