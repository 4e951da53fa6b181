package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

// dialSpins are the settings of house.Config.Spin that the dial shows.
var dialSpins = []time.Duration{-1, 5 * time.Microsecond, 20 * time.Microsecond, 100 * time.Microsecond, time.Millisecond}

// dialLoads wait for another worker.
var dialLoads = []scenario{
	{"ask-cross-1", "an ask of an actor on another worker and its answer, one after the other in one stack",
		"from ask to answer, each", askCross1},
	{"paced", fmt.Sprintf("an ask of an actor on another worker and its answer; one is due every %v, whether the last one is answered or not", pace),
		"from when it was due, by a timer, to its answer, each", paced},
}

const dialColumns = "%-11s %8s %6s %9s %9s %9s %9s %9s %6s %8s\n"

// dials measures each load at each setting and prints a row for each.
func dials(out io.Writer, o options) error {
	t := &table{out: out}
	t.printf("%s %s/%s, %d CPUs, %d workers, %v a row; a clock read takes %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), o.workers, o.length, span(clockRead()))
	t.printf(dialColumns, "load", "spin", "locked", "p50", "p99", "p99.9", "max", "CPU/op", "CPUs", "ops")
	for _, l := range dialLoads {
		for _, spin := range dialSpins {
			for _, lock := range []bool{false, true} {
				o.spin, o.lock = spin, lock
				r, err := l.run(o)
				if err != nil {
					return fmt.Errorf("%s, spin %s: %w", l.name, spinName(spin), err)
				}
				t.dialRow(l.name, o, r)
			}
		}
		t.printf("\n")
	}
	t.printf("One operation is, and times are\n")
	for _, l := range dialLoads {
		t.printf("%-11s %s;\n%-11s times: %s\n", l.name, l.op, "", l.times)
	}
	t.printf("CPU/op: CPU time of the process divided by operations; CPUs: divided by the time that passed.\n")
	return t.err
}

func (t *table) dialRow(name string, o options, r result) {
	locked, share, busy := "no", span(unknown), "-"
	if o.lock {
		locked = "yes"
	}
	if r.cpu != unknown {
		share = span(int64(r.cpu) / int64(r.ops))
		busy = fmt.Sprintf("%.2f", float64(r.cpu)/float64(r.elapsed))
	}
	t.printf(dialColumns, name, spinName(o.spin), locked, span(r.p[0]), span(r.p[1]), span(r.p[2]), span(r.p[3]), share, busy, fmt.Sprint(r.ops))
}

func spinName(d time.Duration) string {
	if d < 0 {
		return "none"
	}
	return d.String()
}

// pace is the time from one ask of the paced load to the next. It is longer than a
// wake-up and shorter than the longest spin.
const pace = 100 * time.Microsecond

// pacer fires shots, each when it is due: an open loop, in which one that is late
// does not put off the next.
type pacer struct {
	to        core.Port[question, answer]
	self      core.NoticePort[shot]
	latencies latency.Histogram
}

type (
	// pacing is the driver: it counts the shots that are due.
	pacing struct {
		core.NoticeStack[*round]
		tick core.Future[core.Tick]
		next int64 // when the next shot is due
		ops  uint64
	}
	shot struct {
		N   uint64
		Due int64
		Of  *round
	}
	shotStack struct {
		core.NoticeStack[shot]
		reply core.Future[answer]
	}
)

var (
	pacerDrive = core.HandleNotice((*pacer).drive)
	pacerShoot = core.HandleNotice((*pacer).shoot)
)

func (p *pacer) drive(s *pacing) core.Yield {
	s.next = now()
	return p.fire(s)
}

// fire sends all shots that are due and waits for the next.
func (p *pacer) fire(s *pacing) core.Yield {
	at := now()
	for ; s.next <= at; s.next += int64(pace) {
		s.Msg.drivers.Add(1) // the round is over when the last is answered
		p.self.Notice(s, shot{s.ops, s.next, s.Msg})
		s.ops++
	}
	if s.Msg.over(at) {
		s.Msg.leave(s.ops)
		return s.Return()
	}
	core.Timer.Ask(s, &s.tick, time.Duration(s.next-at))
	return core.Suspend(s, (*pacer).fire)
}

func (p *pacer) shoot(s *shotStack) core.Yield {
	p.to.Ask(s, &s.reply, question{s.Msg.N})
	return core.Suspend(s, (*pacer).hit)
}

func (p *pacer) hit(s *shotStack) core.Yield {
	rep, err := s.reply.Get()
	if err == nil {
		err = rep.right(s.Msg.N)
	}
	if err != nil {
		s.Msg.Of.fail(err)
		return s.Return()
	}
	p.latencies.Record(time.Duration(now() - s.Msg.Due))
	s.Msg.Of.leave(0)
	return s.Return()
}

func paced(o options) (result, error) {
	return withSystem(o, func(sys *house.System) load {
		// What is due is sent, however many wait: behind a pause of the machine there are many.
		callee := roomy(sys.Workers()[1], func() *echo { return &echo{} })
		p := &pacer{to: echoAnswer.At(callee)}
		at := roomy(sys.Workers()[0], func() *pacer { return p })
		p.self = pacerShoot.At(at)
		return load{
			drivers:   1,
			latencies: []*latency.Histogram{&p.latencies},
			check:     expect(callee),
			start:     func(r *round) { core.Notice(pacerDrive.At(at), r) },
		}
	})
}
