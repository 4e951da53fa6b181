package pool

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// stock has n objects of k out at once, and all at home again.
func stock(s *Shard, k *Kind, n int) {
	taken := make([]*Object, n)
	for i := range taken {
		taken[i] = s.Take(k)
	}
	for _, o := range taken {
		s.Put(o)
	}
}

// stockAbroad is stock of objects that others put.
func stockAbroad(s *Shard, k *Kind, n int) {
	var away Shard
	taken := make([]*Object, n)
	for i := range taken {
		taken[i] = s.Take(k)
	}
	for _, o := range taken {
		away.Put(o)
	}
	away.Flush()
}

// TestTrim: beyond 10 there stay as many as were out at once since the last Trim, however often
// they were.
func TestTrim(t *testing.T) {
	for _, c := range []struct {
		name       string
		free, used int // used: at once, between the Trims
		dropped    int
	}{
		{"unused", 100, 0, 90},
		{"one too many", 11, 0, 1},
		{"as many as stay", 10, 0, 0},
		{"fewer than stay", 1, 0, 0},
		{"none", 0, 0, 0},
		{"one in use", 100, 1, 89},
		{"half in use", 100, 50, 40},
		{"almost all in use", 100, 89, 1},
		{"all but those that stay in use", 100, 90, 0},
		{"all in use", 100, 100, 0},
		{"more than all in use", 100, 120, 0},
	} {
		for where, use := range map[string]func(*Shard, *Kind, int){"at home": stock, "abroad": stockAbroad} {
			t.Run(c.name+" "+where, func(t *testing.T) {
				var s Shard
				stock(&s, plainKind, c.free)
				if n := s.Trim(); n != 0 {
					t.Fatalf("the first Trim dropped %d", n)
				}
				for range 3 {
					use(&s, plainKind, c.used)
				}
				if n := s.Trim(); n != c.dropped {
					t.Errorf("dropped %d, want %d", n, c.dropped)
				}
				made := max(c.free, c.used) - c.dropped
				if u := s.Usage(); s.Made() != made || len(u) > 0 && u[0] != (Usage{"plain", made, made}) {
					t.Errorf("%+v, want %d", u, made)
				}
				stock(&s, plainKind, made) // all are there
				if s.Made() != made {
					t.Errorf("%d objects had to be made", s.Made()-made)
				}
			})
		}
	}
}

// TestTrimOfAPoolInUse: whatever its burst has left behind goes, also if all of it is used in turn.
func TestTrimOfAPoolInUse(t *testing.T) {
	var s Shard
	stock(&s, plainKind, 1000)
	stock(&s, middleKind, 1000)
	for i := range 5 {
		for range 5000 {
			stockAbroad(&s, middleKind, 3)
		}
		want := 0
		if i == 1 {
			want = 990 + 987
		}
		if n := s.Trim(); n != want {
			t.Errorf("Trim %d: dropped %d, want %d", i, n, want)
		}
	}
	usage := s.Usage()
	if usage[0] != (Usage{"plain", 10, 10}) || usage[1] != (Usage{"middle", 13, 13}) {
		t.Errorf("usage after the trims: %+v", usage)
	}
	stock(&s, plainKind, 12)
	if s.Usage()[0].Made != 12 {
		t.Error("a trimmed pool does not grow as any other")
	}
}

// Objects that are out while their pool shrinks come home all the same.
func TestTrimWhileTaken(t *testing.T) {
	var s, away Shard
	stock(&s, plainKind, 50)
	var out [20]*Object
	for i := range out {
		out[i] = s.Take(plainKind)
	}
	s.Trim()
	if n := s.Trim(); n != 20 {
		t.Fatalf("dropped %d of 30 free objects, want 20", n)
	}
	for _, o := range out {
		away.Put(o)
	}
	away.Flush()
	if u := s.Usage()[0]; u.Made != 30 || u.Free != 30 {
		t.Errorf("usage %+v, want 30 and 30", u)
	}
}

// TestTrimKeepsWhatIsNeeded: a load whose need is the same between any two Trims allocates
// nothing, from the second Trim on, wherever its objects are put; and no more exist than it
// needs, and 10.
func TestTrimKeepsWhatIsNeeded(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		var home Shard
		away := make([]Shard, 1+r.IntN(3))
		var out []*Object
		most := 1 + r.IntN(60)
		for trims := range 6 {
			if trims == 1 {
				stock(&home, plainKind, r.IntN(200)) // a burst
			}
			made := home.Made()
			peaks := 0
			for peaks < 2 {
				if up := r.IntN(2) == 0; up && len(out) < most {
					out = append(out, home.Take(plainKind))
				} else if up {
					peaks++
				} else if len(out) > 0 {
					o := out[len(out)-1]
					out = out[:len(out)-1]
					switch r.IntN(3) {
					case 0:
						home.Put(o)
					case 1:
						Send(o)
					default: // it comes home at once, as no more than most are to be out
						s := &away[r.IntN(len(away))]
						s.Put(o)
						s.Flush()
					}
				}
			}
			if trims > 1 && home.Made() > made {
				t.Fatalf("seed %d: %d objects made for a load that needs %d", seed, home.Made()-made, most)
			}
			home.Trim()
			if n := home.Made(); n < most || trims > 2 && n > most+trimKeep {
				t.Fatalf("seed %d: %d objects exist for a load that needs %d", seed, n, most)
			}
		}
	}
}

// TestFlushForgets: a shard knows no other one by which it has nothing to send.
func TestFlushForgets(t *testing.T) {
	var s Shard
	for i := range 3 {
		var homes [5]Shard
		for j := range homes {
			s.Put(homes[j].Take(plainKind))
			s.Put(homes[j].Take(plainKind))
		}
		s.Flush()
		if got := fmt.Sprint(s.out[:cap(s.out)]); len(s.out) > 0 || got != fmt.Sprint(make([]chain, cap(s.out))) {
			t.Fatalf("round %d: it remembers %s", i, got)
		}
		for j := range homes {
			if n := homes[j].Outstanding(); n != 0 {
				t.Errorf("round %d: %d objects aren't home", i, n)
			}
		}
	}
}
