package core_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// press is publishers and subscribers of one topic, and what should become of both.
type press struct {
	topic     core.Topic[flash]
	ears      []core.Address[ear]
	got       []*[2][]flash
	stopped   []bool
	member    map[[2]int]bool    // a ear's handler
	want      map[[2]int][]flash // told to it
	listeners []*core.Listener[flash]
	heard     [][]flash
	want2     [][]flash
	n         map[int]int
}

// next is what is published now, by a sender.
func (p *press) next(from int) flash {
	p.n[from]++
	e := flash{from, p.n[from]}
	for m := range p.member {
		p.want[m] = append(p.want[m], e)
	}
	for i, l := range p.listeners {
		if l != nil {
			p.want2[i] = append(p.want2[i], e)
		}
	}
	return e
}

// stops is what becomes of the model when an ear stops.
func (p *press) stops(i int) func() {
	return func() {
		p.stopped[i] = true
		delete(p.member, [2]int{i, 0})
		delete(p.member, [2]int{i, 1})
	}
}

// TestTopicAgainstModel: actors on three workers and a guest publish, while actors and listeners
// come and go. Each gets what was published while it was there, in order, and once.
func TestTopicAgainstModel(t *testing.T) {
	published, lost := 0, uint64(0)
	eachSeed(t, 60, 3, func(t *testing.T, sim *housetest.Sim) {
		r := rand.New(rand.NewPCG(sim.Seed, 22))
		p := &press{member: map[[2]int]bool{}, want: map[[2]int][]flash{}, n: map[int]int{}}
		dead := core.Events[core.DeadLetter](sim).Listen(100_000)
		var writers []core.NoticePort[func(*player, *cue) core.Yield]
		for i := range 4 {
			writers = append(writers, hint.At(core.Spawn(sim.Workers()[i%3], func() *player { return &player{} })))
		}
		for range 400 {
			switch k := r.IntN(12); {
			case k == 0 && len(p.ears) < 12:
				got := &[2][]flash{}
				stops := p.stops(len(p.ears))
				p.ears = append(p.ears, core.Spawn(sim.Workers()[r.IntN(3)], func() *ear { return &ear{got: got, stops: stops} }))
				p.got, p.stopped = append(p.got, got), append(p.stopped, false)
			case k < 4 && len(p.ears) > 0:
				m := [2]int{r.IntN(len(p.ears)), r.IntN(2)}
				port := earHandlers[m[1]].At(p.ears[m[0]])
				if r.IntN(3) > 0 {
					p.topic.Subscribe(port)
					if !p.stopped[m[0]] {
						p.member[m] = true
					}
				} else {
					p.topic.Unsubscribe(port)
					delete(p.member, m)
				}
			case k == 4 && len(p.ears) > 0:
				p.ears[r.IntN(len(p.ears))].Stop()
			case k == 5 && r.IntN(3) == 0:
				p.listeners = append(p.listeners, p.topic.Listen(10_000))
				p.heard, p.want2 = append(p.heard, nil), append(p.want2, nil)
			case k == 6 && r.IntN(3) == 0 && len(p.listeners) > 0:
				if i := r.IntN(len(p.listeners)); p.listeners[i] != nil {
					p.listeners[i].Close()
					p.heard[i], p.listeners[i] = drained(p.listeners[i]), nil
				}
			case k < 9:
				from := r.IntN(len(writers))
				core.Notice(writers[from], func(_ *player, s *cue) core.Yield {
					for range 1 + r.IntN(5) {
						p.topic.Publish(s, p.next(from))
					}
					return s.Return()
				})
			case k < 10:
				core.Publish(&p.topic, p.next(-1))
			default:
				sim.Turn()
			}
		}
		sim.Rest()
		for i, l := range p.listeners {
			if l != nil {
				p.heard[i] = drained(l)
				l.Close()
			}
			if !slices.Equal(byFrom(p.heard[i]), byFrom(p.want2[i])) {
				t.Errorf("listener %d heard %v, want %v", i, p.heard[i], p.want2[i])
			}
		}
		missing := 0
		for i := range p.ears {
			for side := range 2 {
				got, want := byFrom(p.got[i][side]), byFrom(p.want[[2]int{i, side}])
				published += len(got)
				if !p.stopped[i] && !slices.Equal(got, want) || !isSubsequence(got, want) {
					t.Errorf("ear %d, handler %d, was told %v, want %v", i, side, got, want)
				}
				missing += len(want) - len(got)
			}
		}
		letters := drained(dead)
		lost += uint64(len(letters))
		if len(letters) != missing {
			t.Errorf("%d dead letters, %d events did not arrive", len(letters), missing)
		}
		if want := len(p.member); p.topic.Len() != want {
			t.Errorf("%d subscribers, want %d", p.topic.Len(), want)
		}
		dead.Close()
	})
	busy := 10_000
	if invariant.Race { // with a quarter of the seeds
		busy /= 4
	}
	if !t.Failed() && (published < busy || lost == 0) {
		t.Errorf("%d events arrived, %d were lost: too calm", published, lost)
	}
}

// byFrom sorts events by publisher, each one's in the order in which they came.
func byFrom(all []flash) []flash {
	return slices.SortedStableFunc(slices.Values(all), func(a, b flash) int { return a.From - b.From })
}

func isSubsequence(part, whole []flash) bool {
	for _, e := range part {
		i := slices.Index(whole, e)
		if i < 0 {
			return false
		}
		whole = whole[i+1:]
	}
	return true
}
