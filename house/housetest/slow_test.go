package housetest_test

import (
	"bytes"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// slug is told how long its steps take, before and after a wait.
type slug struct {
	sim  *housetest.Sim
	none core.Port[int, int]
}

type (
	crawl      struct{ before, after time.Duration }
	crawlStack struct {
		core.NoticeStack[crawl]
		f core.Future[int]
	}
)

func (g *slug) crawl(s *crawlStack) core.Yield {
	g.sim.Now += int64(s.Msg.before)
	g.none.Ask(s, &s.f, 0)
	return core.Suspend(s, (*slug).crawled)
}

func (g *slug) crawled(s *crawlStack) core.Yield {
	g.sim.Now += int64(s.Msg.after)
	return s.Return()
}

var slugCrawl = core.HandleNotice((*slug).crawl)

// TestSlowStep: what is slow is counted, and told of with worker, actor and step: among many
// messages those of the last of them, as it isn't known which was slow.
func TestSlowStep(t *testing.T) {
	const slow, quick = 10 * time.Millisecond, time.Microsecond
	var log bytes.Buffer
	sim := housetest.New(t, 1, house.Config{Workers: 2, SlowStep: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w := sim.Workers()[1]
	g := &slug{sim, farAnswer.RoundRobin(&core.Group[far]{})}
	to := slugCrawl.At(core.Spawn(w, func() *slug { return g }))
	steps := uint64(0)
	expect := func(what string, pattern string, all ...crawl) {
		t.Helper()
		log.Reset()
		for _, c := range all {
			core.Notice(to, c)
		}
		sim.Run(200 * time.Millisecond) // no line is skipped
		if pattern != "" {
			steps++
		}
		if pattern == "" && log.Len() > 0 || !regexp.MustCompile(pattern).MatchString(log.String()) || strings.Count(log.String(), "\n") > 1 {
			t.Errorf("%s: %q", what, log.String())
		}
	}
	rest := make([]crawl, 2000)
	for range 2 {
		expect("not slow", "", crawl{slow - 1, 0})
		expect("quick ones", "", rest...)
		expect("among many", `step was slow" took=10\.004ms worker=1 messages=10 actor=housetest_test\.slug#1 step=housetest_test\.\(\*slug\)\.crawl skipped=0`,
			crawl{quick, 0}, crawl{slow, quick}, crawl{quick, 0}, crawl{quick, 0}, crawl{0, 0})
		expect("a later step", `took=12\.001ms worker=1 messages=3 actor=housetest_test\.slug#1 step=housetest_test\.\(\*slug\)\.crawl skipped=0`,
			crawl{quick, 0}, crawl{0, slow + 2*time.Millisecond}, crawl{quick, 0})
		expect("quick ones", "", rest...)
	}
	log.Reset()
	for i := range 6 {
		// the last is longer than the pause between lines
		core.Notice(to, crawl{slow * time.Duration(1+i/5*9), 0})
		sim.Rest()
	}
	if n := strings.Count(log.String(), "\n"); n != 2 || !strings.Contains(log.String(), "skipped=4") {
		t.Errorf("%d lines of six slow steps: %s", n, log.String())
	}
	if err := sim.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if all, own, other := sim.Stats().SlowSteps, w.Stats().SlowSteps, sim.Workers()[0].Stats().SlowSteps; all != steps+6 || own != all || other != 0 {
		t.Errorf("%d slow steps are counted, of %d: %d and %d", all, steps+6, other, own)
	}
}

// TestNoSlowStep: nobody is told if nobody wants to know.
func TestNoSlowStep(t *testing.T) {
	var log bytes.Buffer
	sim := housetest.New(t, 1, house.Config{Workers: 1, SlowStep: -1, TurnTime: -1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	g := &slug{sim, farAnswer.RoundRobin(&core.Group[far]{})}
	core.Notice(slugCrawl.At(core.Spawn(sim, func() *slug { return g })), crawl{time.Hour, time.Hour})
	sim.Rest()
	if log.Len() > 0 || sim.Stats().SlowSteps > 0 {
		t.Errorf("%d slow steps: %s", sim.Stats().SlowSteps, log.String())
	}
}
