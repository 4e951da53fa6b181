package pool

import (
	"testing"
	"unsafe"
)

func TestLastInFirstOut(t *testing.T) {
	var s Shard
	a, b, c := s.Take(plainKind), s.Take(plainKind), s.Take(plainKind)
	s.Put(b)
	s.Put(c)
	s.Put(a)
	if s.Take(plainKind) != a || s.Take(plainKind) != c || s.Take(plainKind) != b {
		t.Error("taken in another order than last in, first out")
	}
}

// What was put abroad is not home before the flush, and is before anything new is made.
func TestHomeward(t *testing.T) {
	var home, away Shard
	o := home.Take(plainKind)
	away.Put(o)
	if o.Taken() || home.Outstanding() != 1 || away.Outstanding() != 0 || away.Made() != 0 {
		t.Errorf("before the flush: taken %v, %d and %d outstanding", o.Taken(), home.Outstanding(), away.Outstanding())
	}
	away.Flush()
	if home.Take(plainKind) != o || home.Made() != 1 {
		t.Error("what came home was not found")
	}
	Send(o)
	if home.Take(plainKind) != o || home.Made() != 1 {
		t.Error("what was sent was not found")
	}
}

func TestDoublePut(t *testing.T) {
	const twice = "pool: put of an object that is not taken"
	var home, away Shard
	var g Guests
	for _, c := range []struct {
		name string
		take func(*Kind) *Object
		put  func(*Object)
	}{
		{"at home", home.Take, home.Put},
		{"abroad", home.Take, away.Put},
		{"sent", home.Take, Send},
		{"by a guest", g.Take, g.Put},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.take(plainKind)
			c.put(o)
			panics(t, twice, func() { c.put(o) })
			panics(t, twice, func() { Send(o) })
			away.Flush()
			if p := c.take(plainKind); p != o { // the pool is as before, and not locked
				t.Error("another object after a refused put")
			}
			c.put(o)
			away.Flush()
		})
	}
	if home.Outstanding() != 0 || home.Made() != 1 || g.Outstanding() != 0 {
		t.Error("a refused put changed the counts")
	}
}

// A second put through PutHere, which does nothing then, panics in every build.
func TestSecondPutHere(t *testing.T) {
	var home, away Shard
	put := func(s *Shard, o *Object) {
		if !s.PutHere(o) {
			s.PutClear(o)
		}
	}
	for _, first := range []func(*Object){home.Put, away.Put, Send, func(o *Object) { put(&home, o) }, func(o *Object) { put(&away, o) }} {
		o := home.Take(plainKind)
		first(o)
		panics(t, "pool: put of an object that is not taken", func() { put(&home, o) })
		panics(t, "pool: put of an object that is not taken", func() { put(&away, o) })
		away.Flush()
		if p := home.Take(plainKind); p != o {
			t.Error("another object after a refused put")
		}
		if p := home.Take(plainKind); p == o {
			t.Error("taken twice")
		}
	}
}

func TestKind(t *testing.T) {
	var s Shard
	o := s.Take(middleKind)
	m := middleOf(o)
	if middleKind.base(o) != unsafe.Pointer(m) {
		t.Error("base is not where the struct begins")
	}
	before, behind := middleKind.memory(o)
	if &before[0] != (*byte)(unsafe.Pointer(&m.before)) || len(before) != 16 ||
		&behind[0] != (*byte)(unsafe.Pointer(&m.behind)) || len(behind) != 24 {
		t.Errorf("memory is %d bytes before and %d behind the fixed part", len(before), len(behind))
	}
	serial := m.serial
	s.Put(o)
	if m = middleOf(s.Take(middleKind)); m.serial != serial {
		t.Error("the fixed part changed")
	}
	if middleKind.Name() != "middle" {
		t.Errorf("name %q", middleKind.Name())
	}
	for _, bad := range []Layout{
		{},
		{Size: ObjectSize, Fixed: ObjectSize - 1},
		{Size: ObjectSize, Offset: 8, Fixed: ObjectSize},
	} {
		panics(t, "pool: impossible layout of bad", func() { NewKind("bad", bad, nil, nil) })
	}
}
