package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/stack"
)

// What workers do with work that isn't theirs alone: they share what is too much for one, and
// leave alone what isn't.

const (
	// burnersMax is how many actors burn.
	burnersMax = 64
	// skewBurn, evenBurn and lightBurn are what a message costs them.
	skewBurn, evenBurn, lightBurn = 20 * time.Microsecond, time.Microsecond, 20 * time.Microsecond
	// lightPace is the time from one message of the light load to the next: a twentieth of a CPU.
	lightPace = 20 * lightBurn
)

// burner does something that takes a while, as often as it is told, or again and again.
type burner struct {
	self  core.NoticePort[burning]
	spins int
	done  []uint64 // messages, by worker
}

type burning struct {
	Again bool
	Until int64
}

type burnStack struct{ core.NoticeStack[burning] }

var (
	burnerBurn = core.HandleNotice((*burner).burn)
	burnerTold = core.Handle((*burner).told)
)

func (b *burner) burn(s *burnStack) core.Yield {
	runtime.KeepAlive(spin(b.spins))
	b.done[stack.Of(s).Engine().Index]++
	if s.Msg.Again && core.Now(s) < s.Msg.Until {
		b.self.Notice(s, s.Msg)
	}
	return s.Return()
}

// told answers how many messages were handled on a worker.
func (b *burner) told(s *core.AskStack[int, uint64]) core.Yield { return s.Return(b.done[s.Req]) }

// spin takes the same CPU time for the same n, whatever else the CPU does meanwhile: each
// step waits for the one before, so that the core has room for another thread of its.
//
//go:noinline
func spin(n int) (sum uint64) {
	for range n {
		sum = sum*6364136223846793005 + 1442695040888963407
	}
	return sum
}

// spinsFor returns the n with which spin takes d.
func spinsFor(d time.Duration) int {
	const n = 1_000_000
	best := int64(1 << 62)
	for range 20 {
		from := now()
		runtime.KeepAlive(spin(n))
		best = min(best, now()-from)
	}
	return max(1, int(int64(d)*n/best))
}

// sharing is one row.
type sharing struct {
	load     string
	workers  int
	messages uint64
	rate     float64   // messages a second
	share    []float64 // of the workers, of what came after the first second
	moved    uint64    // actors, in the first second
	later    uint64    // and after it
	woken    uint64
}

// crowd is a system with burners, and counts what they do.
type crowd struct {
	sys   *house.System
	all   []core.Address[burner]
	ports []core.NoticePort[burning]
}

// newCrowd has them born beside each other on one worker, or on all in turn.
func newCrowd(workers, n int, burn time.Duration, even bool) (*crowd, error) {
	sys, err := house.New(house.Config{Workers: workers})
	if err != nil {
		return nil, err
	}
	if err := sys.Start(context.Background()); err != nil {
		return nil, err
	}
	c := &crowd{sys: sys}
	spins := spinsFor(burn)
	cradle := core.Spawn(sys.Workers()[0], func() *burner { return &burner{done: make([]uint64, workers)} })
	for range n {
		b := &burner{spins: spins, done: make([]uint64, workers)}
		place := cradle.Beside()
		if even {
			place = sys
		}
		at := core.Spawn(place, func() *burner { return b })
		b.self = burnerBurn.At(at)
		c.all, c.ports = append(c.all, at), append(c.ports, b.self)
	}
	return c, nil
}

// counts returns how many messages each worker has handled.
func (c *crowd) counts() ([]uint64, error) {
	sum := make([]uint64, len(c.sys.Workers()))
	for _, at := range c.all {
		for w := range sum {
			n, err := core.Ask(context.Background(), burnerTold.At(at), w)
			if err != nil {
				return nil, err
			}
			sum[w] += n
		}
	}
	return sum, nil
}

// run has the load go on for a while. What comes in the first second, or half of it if that is
// less, isn't counted.
func (c *crowd) run(load string, length time.Duration, feed func(until int64)) (r sharing, err error) {
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if e := c.sys.Shutdown(ctx); err == nil {
			err = e
		}
	}()
	lead := min(time.Second, length/2)
	end := c.sys.Clock() + int64(length)
	go feed(end)
	time.Sleep(lead)
	before, err := c.counts()
	if err != nil {
		return r, err
	}
	from, early := now(), c.sys.Stats()
	time.Sleep(length - lead)
	after, err := c.counts()
	if err != nil {
		return r, err
	}
	took, total := now()-from, c.sys.Stats()
	r = sharing{load: load, workers: len(after), moved: early.Given, later: total.Given - early.Given, woken: total.Woken - early.Woken}
	for w := range after {
		after[w] -= before[w]
		r.messages += after[w]
	}
	for w := range after {
		r.share = append(r.share, float64(after[w])/float64(max(1, r.messages)))
	}
	r.rate = float64(r.messages) / (float64(took) / 1e9)
	return r, nil
}

// feedAll starts every burner once; they go on by themselves.
func (c *crowd) feedAll(until int64) {
	for _, p := range c.ports {
		core.Notice(p, burning{Again: true, Until: until})
	}
}

// drip is the light load: an actor beside them tells one after the other, by a timer.
type drip struct {
	to   []core.NoticePort[burning]
	next int
}

type dripStack struct {
	core.NoticeStack[int64] // until when
	tick                    core.Future[core.Tick]
}

var dripDrop = core.HandleNotice((*drip).drop)

func (d *drip) drop(s *dripStack) core.Yield {
	if core.Now(s) >= s.Msg {
		return s.Return()
	}
	d.to[d.next%len(d.to)].Notice(s, burning{})
	d.next++
	core.Timer.Ask(s, &s.tick, lightPace)
	return core.Suspend(s, (*drip).drop)
}

// sharingRounds is how often skewed loads of one worker and of several take turns.
const sharingRounds = 3

const sharingColumns = "%-8s %8s %12s %12s %-12s %8s %8s %8s\n"

// shares prints what becomes of skewed, even and light loads.
func shares(out io.Writer, o options) error {
	t := &table{out: out}
	t.printf("%s %s/%s, %d CPUs, %v a row\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), o.length)
	t.printf(sharingColumns, "load", "workers", "messages", "messages/s", "shares", "moved", "later", "woken")
	var ratios []float64
	for range sharingRounds {
		var rates []float64
		for _, workers := range []int{1, o.workers} {
			c, err := newCrowd(workers, burnersMax, skewBurn, false)
			if err != nil {
				return err
			}
			r, err := c.run("skewed", o.length, c.feedAll)
			if err != nil {
				return err
			}
			t.sharingRow(r)
			rates = append(rates, r.rate)
		}
		ratios = append(ratios, rates[1]/rates[0])
	}
	c, err := newCrowd(o.workers, burnersMax, evenBurn, true)
	if err != nil {
		return err
	}
	r, err := c.run("even", 2*o.length, c.feedAll)
	if err != nil {
		return err
	}
	t.sharingRow(r)
	if c, err = newCrowd(o.workers, burnersMax, lightBurn, false); err != nil {
		return err
	}
	at := dripDrop.At(core.Spawn(c.all[0].Beside(), func() *drip { return &drip{to: c.ports} }))
	if r, err = c.run("light", o.length, func(until int64) { core.Notice(at, until) }); err != nil {
		return err
	}
	t.sharingRow(r)
	slices.Sort(ratios)
	t.printf("\nskewed  %d actors, born on one worker, each of whose messages takes %v; %.2f times the messages of one worker, the median of %d rounds\n",
		burnersMax, skewBurn, ratios[len(ratios)/2], len(ratios))
	t.printf("even    the same, %v a message, born on all workers in turn\n", evenBurn)
	t.printf("light   the same as skewed, but a message every %v\n", lightPace)
	t.printf("messages, shares of the workers, woken (parks that a message ended): after the first second; moved, later: actors that moved until then, and since\n")
	return t.err
}

func (t *table) sharingRow(r sharing) {
	shares := ""
	for i, s := range r.share {
		if i > 0 {
			shares += " "
		}
		shares += fmt.Sprintf("%.0f%%", 100*s)
	}
	t.printf(sharingColumns, r.load, fmt.Sprint(r.workers), fmt.Sprint(r.messages), fmt.Sprintf("%.0f", r.rate), shares, fmt.Sprint(r.moved), fmt.Sprint(r.later), fmt.Sprint(r.woken))
}
