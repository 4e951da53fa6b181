package pool

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// user is pooled, and cleared by what its holder wants, as a message is released.
type user struct {
	Object
	clear func()
}

func userOf(o *Object) *user { return (*user)(unsafe.Pointer(o)) }

var userKind = NewKind("user", Layout{Size: unsafe.Sizeof(user{}), Fixed: ObjectSize},
	func() *Object { return &new(user).Object },
	func(o *Object) {
		if f := userOf(o).clear; f != nil {
			userOf(o).clear = nil
			f()
		}
	})

// TestGuestsClearWithoutTheLock: what an object's clear runs may want the pools of guests itself.
func TestGuestsClearWithoutTheLock(t *testing.T) {
	var g Guests
	cleared := 0
	clear := func() {
		s := g.mine()
		if !s.mu.TryLock() {
			t.Fatal("cleared under the lock") // and nobody would get it
		}
		s.mu.Unlock()
		g.Put(g.Take(userKind))
		cleared++
	}
	var away Shard
	for _, take := range []func(*Kind) *Object{g.Take, away.Take} {
		x, y, z := take(userKind), take(userKind), take(userKind)
		for _, o := range []*Object{x, y, z} {
			userOf(o).clear = clear
		}
		g.Put(x)
		g.PutTwo(y, z)
	}
	if cleared != 6 || g.Outstanding() != 0 || away.Outstanding() != 0 {
		t.Errorf("%d cleared, %d and %d outstanding", cleared, g.Outstanding(), away.Outstanding())
	}
}

// TestClearThatTakesAndPuts: what runs while an object is cleared takes and puts others of the
// same lists, in all ways, and those are cleared in the same way. Each object has one holder, and
// all come home.
func TestClearThatTakesAndPuts(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		var here, there Shard
		var g Guests
		var held []*Object
		var step func(depth int)
		step = func(depth int) {
			switch n := r.IntN(14); {
			case n < 5:
				take := []func(*Kind) *Object{here.Take, there.Take, g.Take}[r.IntN(3)]
				o := take(userKind)
				if userOf(o).clear != nil {
					t.Fatalf("seed %d: a taken object isn't cleared, or is another's", seed)
				}
				userOf(o).clear = func() {
					for range r.IntN(3) {
						if depth < 4 {
							step(depth + 1)
						}
					}
				}
				held = append(held, o)
			case n < 10 && len(held) > 0:
				i := r.IntN(len(held))
				o := held[i]
				held[i] = held[len(held)-1]
				held = held[:len(held)-1]
				[]func(*Object){here.Put, there.Put, g.Put, Send}[r.IntN(4)](o)
			case n == 10 && len(held) > 1:
				x, y := held[len(held)-1], held[len(held)-2]
				held = held[:len(held)-2]
				g.PutTwo(x, y)
			case n == 11:
				here.Flush()
				there.Flush()
			case n == 12:
				here.Trim()
				g.Trim()
			case n == 13:
				here.Usage()
				g.Usage()
			}
		}
		for range 300 {
			step(0)
		}
		for len(held) > 0 {
			o := held[len(held)-1]
			held = held[:len(held)-1]
			here.Put(o)
		}
		here.Flush()
		there.Flush()
		if here.Outstanding()+there.Outstanding()+g.Outstanding() != 0 {
			t.Fatalf("seed %d: %d, %d and %d objects are out", seed, here.Outstanding(), there.Outstanding(), g.Outstanding())
		}
	}
}
