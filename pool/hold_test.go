package pool

import (
	"fmt"
	"testing"
)

// puts are the ways in which an object goes home. Each puts o, and afterwards all that it used
// has come home.
var puts = map[string]func(s *Shard, o *Object){
	"Put":        func(s *Shard, o *Object) { s.Put(o) },
	"PutClear":   func(s *Shard, o *Object) { plainKind.clear(o); s.PutClear(o) },
	"PutHere":    func(s *Shard, o *Object) { plainKind.clear(o); putHere(s, o) },
	"abroad":     func(_ *Shard, o *Object) { var away Shard; away.Put(o); away.Flush() },
	"Send":       func(_ *Shard, o *Object) { Send(o) },
	"Guests.Put": func(_ *Shard, o *Object) { new(Guests).Put(o) },
	"PutTwo, first": func(_ *Shard, o *Object) {
		var g Guests
		g.PutTwo(o, g.Take(plainKind))
	},
	"PutTwo, second": func(_ *Shard, o *Object) {
		var g Guests
		g.PutTwo(g.Take(plainKind), o)
	},
}

func putHere(s *Shard, o *Object) {
	if !s.PutHere(o) {
		s.PutClear(o)
	}
}

// What several hold goes home at the last put, whichever way each takes, and not before.
func TestHold(t *testing.T) {
	for first, a := range puts {
		for last, b := range puts {
			for holds := 1; holds <= 3; holds++ {
				t.Run(fmt.Sprint(first, ", ", last, ", ", holds), func(t *testing.T) {
					var s Shard
					o := s.Take(plainKind)
					for range holds {
						o.Hold()
					}
					for range holds {
						a(&s, o)
						if s.Outstanding() != 1 {
							t.Fatal("it went home though somebody holds it")
						}
						if other := s.Take(plainKind); other == o {
							t.Fatal("another got it though somebody holds it")
						} else {
							s.Put(other)
						}
					}
					b(&s, o)
					if n := s.Outstanding(); n != 0 {
						t.Errorf("%d are out", n)
					}
				})
			}
		}
	}
}

// Nobody can hold what is free.
func TestHoldOfWhatIsFree(t *testing.T) {
	for _, held := range []bool{false, true} {
		var s Shard
		o := s.Take(plainKind)
		if held {
			o.Hold()
			s.Put(o)
		}
		s.Put(o)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic (held before: %t)", held)
				}
			}()
			o.Hold()
		}()
	}
}
