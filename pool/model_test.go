package pool

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// model is the reference: every object stands in one list of one shard, or is taken.
type model struct {
	shards []modelShard
	taken  []*Object
	info   map[*Object]*modelObject
}

type modelShard struct {
	real  Shard
	pools map[*Kind]*modelPool
	out   [][]*Object // by home, in order of the puts
	in    []*Object   // newest first
}

type modelPool struct {
	made  int
	free  []*Object // the last is the next to be taken
	spare []*Object // the first is the next to be taken, once nothing is free
	out   int       // taken or on their way home
	most  int       // that were out at once since the last Trim
}

type modelObject struct {
	home  int
	kind  *Kind
	lives int // ended
}

func (m *model) collect(shard int) {
	s := &m.shards[shard]
	for _, o := range s.in {
		p := s.pools[m.info[o].kind]
		p.free = append(p.free, o)
	}
	s.in = nil
}

// take returns what Take must return; nil: a new object.
func (m *model) take(shard int, k *Kind) (o *Object) {
	s := &m.shards[shard]
	if s.pools[k] == nil {
		s.pools[k] = &modelPool{}
	}
	p := s.pools[k]
	if len(p.free) == 0 {
		m.collect(shard)
	}
	if n := len(p.free); n > 0 {
		o, p.free = p.free[n-1], p.free[:n-1]
	} else if len(p.spare) > 0 {
		o, p.spare = p.spare[0], p.spare[1:]
	}
	p.out++
	p.most = max(p.most, p.out)
	return o
}

func (m *model) put(shard int, o *Object) {
	i := m.info[o]
	i.lives++
	if s := &m.shards[shard]; i.home == shard {
		p := s.pools[i.kind]
		p.free = append(p.free, o)
		p.out--
	} else {
		s.out[i.home] = append(s.out[i.home], o)
	}
}

func (m *model) send(o *Object) {
	i := m.info[o]
	i.lives++
	m.arrive(i.home, []*Object{o})
}

func (m *model) flush(shard int) {
	s := &m.shards[shard]
	for home, chain := range s.out {
		slices.Reverse(chain)
		m.arrive(home, chain)
		s.out[home] = nil
	}
}

func (m *model) arrive(home int, chain []*Object) {
	s := &m.shards[home]
	for _, o := range chain {
		s.pools[m.info[o].kind].out--
	}
	s.in = append(chain, s.in...)
}

func (m *model) trim(shard int) (dropped int) {
	m.collect(shard)
	for _, p := range m.shards[shard].pools {
		surplus := max(0, p.made-p.most-10)
		p.spare = p.spare[:len(p.spare)-surplus]
		slices.Reverse(p.free)
		p.spare, p.free = append(p.spare, p.free...), nil
		p.made -= surplus
		p.most = p.out
		dropped += surplus
	}
	return dropped
}

func TestAgainstModel(t *testing.T) {
	for seed := range uint64(200) {
		against(t, seed)
	}
}

func against(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	m := model{shards: make([]modelShard, 2+r.IntN(2)), info: map[*Object]*modelObject{}}
	for i := range m.shards {
		m.shards[i].pools = map[*Kind]*modelPool{}
		m.shards[i].out = make([][]*Object, len(m.shards))
	}
	kinds := []*Kind{plainKind, middleKind, scratchKind}
	takes := 3 + r.IntN(3) // of 10: whether objects pile up outside or inside
	for op := range 600 {
		shard := r.IntN(len(m.shards))
		s := &m.shards[shard].real
		switch k := r.IntN(20); {
		case k < 2*takes:
			m.compareTake(t, seed, op, shard, kinds[r.IntN(len(kinds))])
		case k < 16 && len(m.taken) > 0:
			i := r.IntN(len(m.taken))
			o := m.taken[i]
			m.taken = slices.Delete(m.taken, i, i+1)
			if r.IntN(5) == 0 {
				Send(o)
				m.send(o)
			} else {
				s.Put(o)
				m.put(shard, o)
			}
		case k < 18:
			s.Flush()
			m.flush(shard)
		case k == 18:
			if got, want := s.Trim(), m.trim(shard); got != want {
				t.Fatalf("seed %d op %d: Trim dropped %d, want %d", seed, op, got, want)
			}
		default:
			m.compareUsage(t, seed, op, shard)
		}
		m.compareLists(t, seed, op)
	}
	m.bringHome(t, seed)
}

func (m *model) compareTake(t *testing.T, seed uint64, op, shard int, k *Kind) {
	t.Helper()
	want := m.take(shard, k)
	o := m.shards[shard].real.Take(k)
	i := m.info[o]
	switch {
	case want != nil && o != want:
		t.Fatalf("seed %d op %d: Take returned not the object that came home last", seed, op)
	case want == nil && i != nil:
		t.Fatalf("seed %d op %d: Take returned an object that is not free", seed, op)
	case want == nil:
		i = &modelObject{home: shard, kind: k}
		m.info[o] = i
		m.shards[shard].pools[k].made++
	}
	if o.Home() != &m.shards[shard].real || o.Kind() != k || !o.Taken() || o.Generation() != uint32(2*i.lives+1) {
		t.Fatalf("seed %d op %d: object is %+v, after %d lives", seed, op, *o, i.lives)
	}
	m.taken = append(m.taken, o)
	switch k { // that it is cleared, and scribble on it
	case plainKind:
		p := plainOf(o)
		if p.value != 0 {
			t.Fatalf("seed %d op %d: a taken object isn't cleared", seed, op)
		}
		p.value = int64(op + 1)
	case middleKind:
		p := middleOf(o)
		if p.before != [2]int64{} || p.behind != [3]int64{} || p.serial == 0 {
			t.Fatalf("seed %d op %d: a taken object is %+v", seed, op, *p)
		}
		p.before[1], p.behind[2] = 1, 2
	case scratchKind:
		scratchOf(o).kept[7]++
	}
}

func (m *model) compareUsage(t *testing.T, seed uint64, op, shard int) {
	t.Helper()
	m.collect(shard)
	s := &m.shards[shard]
	made, free := 0, 0
	usage := s.real.Usage()
	for _, u := range usage {
		p := s.pools[kindNamed(u.Name)]
		if p == nil || u.Made != p.made || u.Free != len(p.free)+len(p.spare) || u.Made-u.Free != p.out {
			t.Fatalf("seed %d op %d: usage %+v, model has %+v", seed, op, u, p)
		}
		made += u.Made
		free += u.Free
	}
	if len(usage) != len(s.pools) || s.real.Made() != made || s.real.Outstanding() != made-free {
		t.Fatalf("seed %d op %d: %d pools of %d objects, %d outstanding; model has %d, %d, %d",
			seed, op, len(usage), s.real.Made(), s.real.Outstanding(), len(s.pools), made, made-free)
	}
}

func kindNamed(name string) *Kind {
	for _, k := range []*Kind{plainKind, middleKind, scratchKind} {
		if k.Name() == name {
			return k
		}
	}
	return nil
}

// compareLists compares the free lists, without collecting.
func (m *model) compareLists(t *testing.T, seed uint64, op int) {
	t.Helper()
	for i := range m.shards {
		s := &m.shards[i]
		for k, p := range s.pools {
			l := s.real.lists[k.id]
			free := slices.Clone(p.free)
			slices.Reverse(free)
			free = append(free, p.spare...)
			at := 0
			for _, o := range []*Object{l.head, l.spare} {
				for ; o != nil; o = o.next {
					if at == len(free) || free[at] != o {
						t.Fatalf("seed %d op %d: shard %d, %s: object %d of the free ones is wrong", seed, op, i, k.Name(), at)
					}
					at++
				}
			}
			if at -= len(free); at != 0 || l.made != p.made {
				t.Fatalf("seed %d op %d: shard %d, %s: %d objects too many are free; %d made, want %d", seed, op, i, k.Name(), at, l.made, p.made)
			}
		}
	}
}

// bringHome ends a run: whatever is out comes home, and nothing is lost.
func (m *model) bringHome(t *testing.T, seed uint64) {
	t.Helper()
	for i, o := range m.taken {
		shard := i % len(m.shards)
		m.shards[shard].real.Put(o)
		m.put(shard, o)
	}
	m.taken = nil
	for i := range m.shards {
		m.shards[i].real.Flush()
		m.flush(i)
	}
	for i := range m.shards {
		if n := m.shards[i].real.Outstanding(); n != 0 {
			t.Fatalf("seed %d: %d objects of shard %d are not home at rest", seed, n, i)
		}
		m.collect(i)
		m.compareUsage(t, seed, -1, i)
	}
	m.compareLists(t, seed, -1)
}
