package pool

import "testing"

const seconds = int64(1e9)

// stock makes n free objects of k.
func stock(s *Shard, k *Kind, n int) {
	taken := make([]*Object, n)
	for i := range taken {
		taken[i] = s.Take(k)
	}
	for _, o := range taken {
		s.Put(o)
	}
}

func TestTrim(t *testing.T) {
	use := func(s *Shard) { s.Put(s.Take(plainKind)) }
	comeHome := func(s *Shard) { Send(s.Take(plainKind)) }
	for _, c := range []struct {
		name    string
		free    int
		between func(*Shard)
		second  int64 // when Trim is called again, after 0
		dropped int
	}{
		{"unused", 100, nil, 60 * seconds, 90},
		{"just long enough", 100, nil, 30 * seconds, 90},
		{"not long enough", 100, nil, 30*seconds - 1, 0},
		{"one too many", 11, nil, 60 * seconds, 1},
		{"as many as stay", 10, nil, 60 * seconds, 0},
		{"fewer than stay", 1, nil, 60 * seconds, 0},
		{"none", 0, nil, 60 * seconds, 0},
		{"used", 100, use, 60 * seconds, 0},
		{"came home", 100, comeHome, 60 * seconds, 0},
		{"one is out", 100, func(s *Shard) { s.Take(plainKind) }, 60 * seconds, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Shard
			stock(&s, plainKind, c.free)
			if n := s.Trim(0); n != 0 {
				t.Fatalf("the first Trim dropped %d", n)
			}
			if c.between != nil {
				c.between(&s)
			}
			if n := s.Trim(c.second); n != c.dropped {
				t.Errorf("dropped %d, want %d", n, c.dropped)
			}
			if s.Made() != c.free-c.dropped {
				t.Errorf("%d objects exist, want %d", s.Made(), c.free-c.dropped)
			}
		})
	}
}

// A worker calls Trim every minute: a burst's objects go at the second call after
// its end, those of a kind in use never.
func TestTrimEveryMinute(t *testing.T) {
	var s Shard
	stock(&s, plainKind, 1000)
	stock(&s, middleKind, 1000)
	for minute := int64(1); minute <= 5; minute++ {
		s.Put(s.Take(middleKind))
		want := 0
		if minute == 2 {
			want = 990
		}
		if n := s.Trim(minute * TrimEvery); n != want {
			t.Errorf("minute %d: dropped %d, want %d", minute, n, want)
		}
	}
	usage := s.Usage()
	if usage[0] != (Usage{"plain", 10, 10}) || usage[1] != (Usage{"middle", 1000, 1000}) {
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
	s.Trim(0)
	if n := s.Trim(60 * seconds); n != 20 {
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
