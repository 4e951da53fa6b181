package pool

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// modelSlab is the reference of a slab: its whole contents and its count.
type modelSlab struct {
	home int
	data []byte
	refs int
}

// modelView is one holder's view and what it must be.
type modelView struct {
	b       Bytes
	slab    *modelSlab
	off, up int
}

func (v modelView) same() bool {
	return bytes.Equal(v.b.B(), v.slab.data[v.off:v.up]) && v.b.Len() == v.up-v.off && v.b.Cap() == len(v.slab.data)-v.off
}

func TestBytesAgainstModel(t *testing.T) {
	for seed := range uint64(60) {
		bytesAgainst(t, seed)
	}
}

func bytesAgainst(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	shards := make([]Shard, 2)
	most := []int{64, 200, 140_000}[seed%3] // many slabs of few classes, or of all
	var views []modelView
	for op := range 400 {
		if k := r.IntN(10); k < 3 || len(views) == 0 {
			home := r.IntN(len(shards))
			b := shards[home].Bytes(1 + r.IntN(most))
			slab := &modelSlab{home: home, refs: 1, data: b.Grow(b.Cap()).B()}
			for i := range min(len(slab.data), 300) {
				slab.data[i] = byte(r.Uint32())
			}
			slab.data = bytes.Clone(slab.data)
			views = append(views, modelView{b, slab, 0, b.Len()})
		} else {
			views = bytesStep(r, views, k)
		}
		if op%8 == 0 {
			compareViews(t, seed, op, views)
			compareSlabs(t, seed, op, shards, views)
		}
	}
	compareViews(t, seed, -1, views)
	for _, v := range views {
		v.b.Release()
	}
	compareSlabs(t, seed, -1, shards, nil)
}

// bytesStep does one operation on one view.
func bytesStep(r *rand.Rand, views []modelView, k int) []modelView {
	at := r.IntN(len(views))
	v := &views[at]
	i := r.IntN(v.b.Len() + 1)
	j := i + r.IntN(v.b.Len()-i+1)
	switch k {
	case 3:
		again := *v
		again.b = v.b.Retain()
		v.slab.refs++
		return append(views, again)
	case 4:
		v.b, v.off, v.up = v.b.Slice(i, j), v.off+i, v.off+j
	case 5:
		if part, ok := v.b.Part(v.b.B()[i:j]); ok && i < j {
			v.b, v.off, v.up = part, v.off+i, v.off+j
		}
	case 6:
		n := r.IntN(v.b.Cap() + 1)
		v.b, v.up = v.b.Grow(n), v.off+n
	case 7:
		if v.b.Len() > 0 {
			x := byte(r.Uint32())
			v.b.B()[min(i, v.b.Len()-1)] = x
			v.slab.data[v.off+min(i, v.b.Len()-1)] = x
		}
	default:
		v.b.Release()
		v.slab.refs--
		return slices.Delete(views, at, at+1)
	}
	return views
}

func compareViews(t *testing.T, seed uint64, op int, views []modelView) {
	t.Helper()
	for i, v := range views {
		if !v.same() {
			t.Fatalf("seed %d op %d: view %d of %d bytes is wrong, of a slab of %d", seed, op, i, v.b.Len(), len(v.slab.data))
		}
	}
}

func compareSlabs(t *testing.T, seed uint64, op int, shards []Shard, views []modelView) {
	t.Helper()
	live := map[*modelSlab]int{}
	for _, v := range views {
		live[v.slab]++
	}
	want := make([]int, len(shards))
	for slab, n := range live {
		if n != slab.refs {
			t.Fatalf("seed %d op %d: the model is wrong", seed, op)
		}
		if len(slab.data) <= SlabMax {
			want[slab.home]++
		}
	}
	for i := range shards {
		if n := shards[i].Outstanding(); n != want[i] {
			t.Fatalf("seed %d op %d: shard %d has %d slabs outstanding, want %d", seed, op, i, n, want[i])
		}
	}
}
