package pool

import (
	"sync"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// All traffic goes one way: one worker takes, another puts. What exists stays
// bounded by what is between the two: in the Go channel, in the receiver's
// hand, in its outgoing chain.
func TestOneWayTraffic(t *testing.T) {
	const pipe, turn = 64, 32
	objects := 1_000_000
	if invariant.Race {
		objects = 100_000
	}
	var from, to Shard
	sent := make(chan *Object, pipe)
	done := make(chan struct{})
	go func() {
		defer close(done)
		n := 0
		for o := range sent {
			if n++; plainOf(o).value != int64(n) {
				t.Errorf("object %d holds %d", n, plainOf(o).value)
				break
			}
			to.Put(o)
			if n%turn == 0 {
				to.Flush()
			}
		}
		for range sent { // after a failure
		}
		to.Flush()
	}()
	for i := range objects {
		o := from.Take(plainKind)
		plainOf(o).value = int64(i + 1)
		sent <- o
	}
	close(sent)
	<-done
	// The taker makes one more only when all that exist are elsewhere.
	if n := from.Made(); n > pipe+1+turn+1 {
		t.Errorf("%d objects made for at most %d in flight", n, pipe+1+turn)
	}
	if from.Outstanding() != 0 || to.Made() != 0 {
		t.Errorf("%d objects outstanding at rest, %d made by the receiver", from.Outstanding(), to.Made())
	}
}

// Both workers take and both put what they get from the other; bytes travel with
// the objects.
func TestTrafficBothWays(t *testing.T) {
	const pipe, turn, rounds = 16, 8, 20_000
	type parcel struct {
		o *Object
		b Bytes
	}
	var shards [2]Shard
	var pipes [2]chan parcel
	for i := range pipes {
		pipes[i] = make(chan parcel, pipe)
	}
	var both sync.WaitGroup
	for i := range shards {
		s, out, in := &shards[i], pipes[i], pipes[1-i]
		more := in // nil once the other has sent all
		opened := 0
		open := func(p parcel) {
			if int64(p.b.B()[0]) != middleOf(p.o).behind[2]%256 {
				t.Error("a parcel's bytes are not its own")
			}
			p.b.Release()
			s.Put(p.o)
			if opened++; opened%turn == 0 {
				s.Flush()
			}
		}
		both.Go(func() {
			defer s.Flush()
			for n := range rounds {
				p := parcel{s.Take(middleKind), s.Bytes(1 + n%200)}
				middleOf(p.o).behind[2] = int64(n)
				p.b.B()[0] = byte(n)
				for sent := false; !sent; {
					select {
					case out <- p:
						sent = true
					case q, ok := <-more:
						if ok {
							open(q)
						} else {
							more = nil
						}
					}
				}
			}
			close(out)
			for p := range in {
				open(p)
			}
		})
	}
	both.Wait()
	for i := range shards {
		s := &shards[i]
		if n := s.Outstanding(); n != 0 {
			t.Errorf("shard %d: %d outstanding at rest", i, n)
		}
		for _, u := range s.Usage() {
			if most := pipe + 1 + turn + 1; u.Made > most {
				t.Errorf("shard %d: %d of %s made, want at most %d", i, u.Made, u.Name, most)
			}
		}
	}
}

func TestGuests(t *testing.T) {
	const guests, pipe, turn, rounds = 4, 16, 8, 5_000
	var g Guests
	toWorker := make(chan *Object, pipe)
	done := make(chan struct{})
	go func() { // a worker puts what guests took
		defer close(done)
		var s Shard
		for n := 1; ; n++ {
			o, ok := <-toWorker
			if !ok {
				break
			}
			s.Put(o)
			if n%turn == 0 {
				s.Flush()
			}
		}
		s.Flush()
		if s.Made() != 0 {
			t.Error("the worker made objects")
		}
	}()
	var all sync.WaitGroup
	for range guests {
		all.Go(func() {
			for n := range rounds {
				o := g.Take(plainKind)
				if plainOf(o).value != 0 {
					t.Error("a taken object isn't cleared")
				}
				plainOf(o).value = int64(n)
				b := g.Bytes(10)
				b.B()[n%10] = 1
				b.Release()
				switch n % 3 {
				case 0:
					toWorker <- o
				case 1:
					g.Put(o)
				default:
					Send(o)
				}
			}
		})
	}
	all.Wait()
	close(toWorker)
	<-done
	if n := g.Outstanding(); n != 0 {
		t.Errorf("%d outstanding at rest", n)
	}
	for _, u := range g.Usage() {
		// each may have a shard to itself
		if most := guests * (1 + pipe + 1 + turn); u.Made > most || u.Free != u.Made {
			t.Errorf("usage %+v, want at most %d", u, most)
		}
	}
	for range 100 {
		g.Take(plainKind)
	}
	if n := g.Outstanding(); n != 100 {
		t.Errorf("%d outstanding, want 100", n)
	}
}

func TestGuestsTrim(t *testing.T) {
	var g Guests
	var taken [50]*Object
	for i := range taken {
		taken[i] = g.Take(plainKind)
	}
	for _, o := range taken {
		g.Put(o)
	}
	if first, second := g.Trim(), g.Trim(); first != 0 || second != 40 {
		t.Errorf("dropped %d, then %d, want 0 and 40", first, second)
	}
}

// A worker's Put of a guest's object and a guest's Put of a worker's: each comes
// home, without waiting for another call of the guest.
func TestGuestsAbroad(t *testing.T) {
	var g Guests
	var s Shard
	o := s.Take(plainKind)
	g.Put(o)
	if s.in.Load() != o {
		t.Error("a guest's put touches a worker's lists")
	}
	s.Put(g.Take(plainKind))
	s.Flush()
	if s.Outstanding() != 0 || g.Outstanding() != 0 || s.Made() != 1 {
		t.Errorf("%d of the worker's and %d of the guests' objects are not home", s.Outstanding(), g.Outstanding())
	}
}
