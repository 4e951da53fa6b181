package pool

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// A plant is a program in which the goroutine that f starts used to hold what is
// put meanwhile. The two are not ordered, so whichever is first, the race
// detector must say so.
type plant struct {
	name  string
	race  bool
	plant func(run func(former func()))
}

var seen int64 // by the former holder

var plants = []plant{
	// Nothing but the annotation writes to serial: clear leaves it alone.
	{"reads an object put at home", true, func(run func(func())) {
		var s Shard
		o := s.Take(middleKind)
		run(func() { seen = middleOf(o).serial })
		s.Put(o)
	}},
	{"writes to an object put abroad", true, func(run func(func())) {
		var home, away Shard
		o := home.Take(middleKind)
		run(func() { middleOf(o).serial = 1 })
		away.Put(o)
	}},
	{"reads an object sent", true, func(run func(func())) {
		var s Shard
		o := s.Take(middleKind)
		run(func() { seen = middleOf(o).serial })
		Send(o)
	}},
	{"reads released bytes", true, func(run func(func())) {
		var s Shard
		b := s.Bytes(100)
		p := b.B() // now, because B reads the slab's head
		run(func() { seen = int64(p[50]) })
		b.Release()
	}},
	{"reads released long bytes", true, func(run func(func())) {
		var s Shard
		b := s.Bytes(1 << 20)
		p := b.B()
		run(func() { seen = int64(p[1<<20-1]) })
		b.Release()
	}},
	{"reads bytes that it retained", false, func(run func(func())) {
		var s Shard
		b := s.Bytes(100)
		mine := b.Retain()
		run(func() {
			seen = int64(mine.B()[50])
			mine.Release()
		})
		b.Release()
		s.Bytes(100).B()[50] = 1
	}},
}

// The plants run in processes of their own, because a found race fails the test
// that it is found in.
func TestG5RaceDetectorSeesFormerHolders(t *testing.T) {
	if !invariant.Race {
		t.Skip("needs -race")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			c := exec.Command(self, "-test.run=^TestPlant$")
			c.Env = append(os.Environ(), "POOL_PLANT="+p.name, "GORACE=atexit_sleep_ms=0")
			out, err := c.CombinedOutput()
			if found := err != nil && strings.Contains(string(out), "DATA RACE"); found != p.race {
				t.Errorf("race found: %v, want %v; %v\n%s", found, p.race, err, out)
			}
		})
	}
}

func TestPlant(t *testing.T) {
	name := os.Getenv("POOL_PLANT")
	if name == "" {
		t.Skip("run by TestG5RaceDetectorSeesFormerHolders")
	}
	for _, p := range plants {
		if p.name != name {
			continue
		}
		done := make(chan struct{})
		p.plant(func(former func()) {
			go func() {
				former()
				close(done)
			}()
		})
		<-done
	}
}
