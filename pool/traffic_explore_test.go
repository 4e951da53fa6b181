//go:build explore

package pool

import (
	"fmt"
	"os"
	"testing"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/explore"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// protocols are the scenarios by which the explorer drives this package.
var protocols = []struct {
	name string
	run  func(r *explore.Run)
}{
	{"home", exploreHome},     // shard.go: Send, Flush, receive, collect
	{"stripe", exploreStripe}, // guests.go
	{"bytes", exploreBytes},   // bytes.go
}

var seams = explore.Seams{Point: &invariant.AtPoint, Await: &invariant.AtAwait, Self: &invariant.AtSelf}

func TestExplore(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			explore.Prove(t, explore.Config{Seams: seams, Bound: 2}, p.run)
		})
	}
}

func TestExploreLong(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("takes a minute: set STACKHOUSE_LONG")
	}
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			explore.Prove(t, explore.Config{Seams: seams, Bound: 3}, p.run)
		})
	}
}

// parcel is what the scenarios pool.
type parcel struct {
	Object
	held bool
}

var parcelKind = NewKind("parcel", Layout{Size: unsafe.Sizeof(parcel{}), Fixed: ObjectSize},
	func() *Object { return &new(parcel).Object },
	func(o *Object) { (*parcel)(unsafe.Pointer(o)).held = false })

// hold takes a parcel, which nobody else may hold.
func hold(r *explore.Run, o *Object) *Object {
	p := (*parcel)(unsafe.Pointer(o))
	if p.held {
		r.Fail("an object is held twice")
	}
	p.held = true
	return o
}

// balanced checks at the end that all is home, and taken once only.
func balanced(r *explore.Run, home *Shard, made int) {
	r.After(func() {
		if n := home.Outstanding(); n != 0 {
			r.Fail("%d objects are out", n)
		}
		if u := home.Usage(); len(u) != 1 || u[0].Made > made {
			r.Fail("used: %v, want %d made at most", u, made)
		}
	})
}

// The owner takes while what it gave away comes home in two ways: in chains by another
// worker's Flush, and by Send.
func exploreHome(r *explore.Run) {
	home, abroad := new(Shard), new(Shard)
	var given [4]*Object
	for i := range given {
		given[i] = hold(r, home.Take(parcelKind))
	}
	r.Go("owner", func() {
		var mine [6]*Object
		for i := range mine {
			mine[i] = hold(r, home.Take(parcelKind))
		}
		for _, o := range mine {
			home.Put(o)
		}
	})
	r.Go("worker", func() {
		abroad.Put(given[0])
		abroad.Put(given[1])
		abroad.Flush()
	})
	r.Go("sender", func() {
		Send(given[2])
		Send(given[3])
	})
	balanced(r, home, 10)
}

// Two goroutines share a stripe, while a worker sends home what one of them took.
func exploreStripe(r *explore.Run) {
	var guests Guests
	abroad := new(Shard)
	given := hold(r, guests.Take(parcelKind))
	for i := range 2 {
		r.Go(fmt.Sprint("guest ", i), func() {
			a, b := guests.TakeTwo(parcelKind, parcelKind)
			hold(r, a)
			hold(r, b)
			guests.Put(a)
			c := hold(r, guests.Take(parcelKind))
			guests.PutTwo(b, c)
		})
		r.As(1)
	}
	r.Go("worker", func() {
		abroad.Put(given)
		abroad.Flush()
	})
	r.After(func() {
		if n := guests.Outstanding(); n != 0 {
			r.Fail("%d objects are out", n)
		}
	})
}

// Three holders of one slab let go of it, one of them after another Retain, while the owner
// takes bytes: it gets the slab when nobody holds it, and once.
func exploreBytes(r *explore.Run) {
	home := new(Shard)
	b := home.Bytes(64)
	b.Retain()
	b.Retain()
	holders := 3
	r.Go("one", func() {
		holders--
		b.Release()
	})
	r.Go("two", func() {
		holders++
		more := b.Retain()
		holders--
		b.Release()
		holders--
		more.Release()
	})
	r.Go("three", func() {
		holders--
		b.Release()
	})
	r.Go("owner", func() {
		for range 2 {
			c := home.Bytes(64)
			if c.slab == b.slab && holders > 0 {
				r.Fail("a slab is taken while %d hold it", holders)
			}
			if c.slab == b.slab {
				holders++
			}
			d := home.Bytes(64)
			if c.slab == d.slab {
				r.Fail("a slab is taken twice")
			}
			if c.slab == b.slab {
				holders--
			}
			c.Release()
			d.Release()
		}
	})
	balanced(r, home, 5)
}
