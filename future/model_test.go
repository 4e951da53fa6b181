package future

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
)

// model is a table beside its reference, a map.
type model struct {
	t    *testing.T
	r    *rand.Rand
	seed uint64
	op   int

	shard pool.Shard
	table Table
	want  map[uint64]*Promise
	ids   []uint64   // of want, in any order
	free  []*Promise // promises that don't wait
	gone  []uint64   // some ids that were taken

	last, step uint64 // ids go up from last in steps
}

func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("seed %d op %d: %s", m.seed, m.op, fmt.Sprintf(format, args...))
}

func (m *model) insert() {
	p := m.free[len(m.free)-1]
	m.free = m.free[:len(m.free)-1]
	for m.last += m.step; m.last == 0 || m.want[m.last] != nil; {
		m.last += m.step
	}
	p.ID = m.last
	m.table.Insert(p, &m.shard)
	m.want[p.ID] = p
	m.ids = append(m.ids, p.ID)
}

// take takes one at random: an answer came, or its stack ended.
func (m *model) take() {
	i := m.r.IntN(len(m.ids))
	id := m.ids[i]
	m.ids[i] = m.ids[len(m.ids)-1]
	m.ids = m.ids[:len(m.ids)-1]
	p := m.table.Take(id, &m.shard)
	if p != m.want[id] || p.hash != nil || p.ID != id {
		m.fail("Take(%d) = %p, want %p, out of its chain", id, p, m.want[id])
	}
	delete(m.want, id)
	m.free = append(m.free, p)
	if len(m.gone) < 100 {
		m.gone = append(m.gone, id)
	} else {
		m.gone[m.r.IntN(100)] = id
	}
}

// late takes an id that was taken before, or was never asked.
func (m *model) late() {
	id := m.r.Uint64()
	switch m.r.IntN(3) {
	case 0:
		if len(m.gone) > 0 {
			id = m.gone[m.r.IntN(len(m.gone))]
		}
	case 1:
		id = m.last + m.r.Uint64N(3)
	}
	if m.want[id] != nil {
		return
	}
	if m.table.Has(id) {
		m.fail("Has(%d) of an id that doesn't wait", id)
	}
	if p := m.table.Take(id, &m.shard); p != nil {
		m.fail("Take(%d) of an id that doesn't wait = %+v", id, *p)
	}
}

// do does one operation, which is an insert in so many of ten cases.
func (m *model) do(inserts int) {
	m.op++
	switch {
	case m.r.IntN(5) == 0:
		m.late()
	case m.r.IntN(10) < inserts && len(m.free) > 0:
		m.insert()
	case len(m.ids) > 0:
		m.take()
	}
	if len(m.ids) > 0 {
		if id := m.ids[m.r.IntN(len(m.ids))]; !m.table.Has(id) {
			m.fail("Has(%d) of an id that waits", id)
		}
	}
	if m.op%max(1, (len(m.ids)+len(m.free))/4) == 0 {
		m.check()
	}
}

// check requires the invariants of the table and that it holds what the map does.
func (m *model) check() {
	m.t.Helper()
	if m.table.Len() != len(m.want) {
		m.fail("Len %d, want %d", m.table.Len(), len(m.want))
	}
	if m.table.array == nil {
		return
	}
	heads := m.table.array.heads
	if n := len(heads); n&(n-1) != 0 || n < tableMin || m.table.count > tableLoad*n {
		m.fail("%d promises in %d buckets", m.table.count, n)
	}
	found := 0
	for i, p := range heads {
		for ; p != nil; p = p.hash {
			if found++; m.want[p.ID] != p || p.ID%uint64(len(heads)) != uint64(i) {
				m.fail("promise %d in bucket %d of %d", p.ID, i, len(heads))
			}
		}
	}
	if found != len(m.want) {
		m.fail("%d promises found, want %d", found, len(m.want))
	}
	if made := m.shard.Outstanding(); made != 1 {
		m.fail("%d arrays taken, want 1", made)
	}
}

func TestTableAgainstModel(t *testing.T) {
	many := 100_000
	if invariant.Race { // each operation is slow
		many = 10_000
	}
	for _, most := range []int{1, 17, 1_000, many} {
		for _, step := range []uint64{1, 3, 64, 1 << 40} { // 64 and more: crowded buckets
			if most > 1_000 && step > 3 {
				continue // a chain of all would be long
			}
			t.Run(fmt.Sprintf("%d by %d", most, step), func(t *testing.T) {
				for seed := range uint64(max(2, min(20, 2_000/most))) {
					against(t, most, step, seed)
				}
			})
		}
	}
}

func against(t *testing.T, most int, step, seed uint64) {
	m := &model{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, step)), want: map[uint64]*Promise{}, step: step}
	// the second wraps around
	m.last = []uint64{0, math.MaxUint64 - uint64(most)/2*step, m.r.Uint64()}[seed%3]
	promises := make([]Promise, most)
	for i := range promises {
		m.free = append(m.free, &promises[i])
	}
	for _, until := range []int{most, most / 2, 0, most, 0} {
		for range min(most, 10_000) + 20 {
			m.do(5)
		}
		for len(m.ids) < until {
			m.do(9)
		}
		for len(m.ids) > until {
			m.do(1)
		}
		m.check()
	}
	m.table.Close(&m.shard)
	if m.shard.Outstanding() != 0 {
		m.fail("closed, %d arrays outstanding", m.shard.Outstanding())
	}
}
