package main

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// sim is buckets in a simulation, which sees each take when its bucket handles it, and knows what
// is right: it has a model for each key, which never goes.
type sim struct {
	*housetest.Sim
	testing.TB
	rng     *rand.Rand
	like    Bucket
	buckets core.Named[Bucket]
	port    core.Port[take, time.Duration]
	starts  *core.Listener[core.ActorStarted]
	models  map[string]*model
	grants  map[string][]grant
	right   map[*byte]time.Duration // the answers, by where the key of the ask stands
	last    time.Duration           // when the last take was handled
}

// now is the simulation that runs, for the handler.
var now *sim

func newSim(t *testing.T, seed uint64) *sim {
	s := &sim{TB: t, rng: rand.New(rand.NewPCG(seed, 1)), models: map[string]*model{}, grants: map[string][]grant{}, right: map[*byte]time.Duration{}}
	s.like = Bucket{burst: 1 + s.rng.Int64N(5), every: time.Duration(1+s.rng.IntN(3000)) * time.Microsecond}
	if c := (house.Config{Workers: 3, AskTimeout: time.Hour}); seed%2 == 0 {
		s.Sim = housetest.New(t, seed, c)
	} else {
		s.Sim = housetest.Untraced(t, seed, c)
	}
	s.starts = core.Events[core.ActorStarted](s.Sim).Listen(10_000)
	s.buckets = newBuckets(s.Sim, s.like, 0)
	s.port = core.ByName(watchedTake, s.buckets, (*take).name)
	now = s
	return s
}

// watchedTake is bucketTake.
var watchedTake = core.Handle(func(b *Bucket, s *core.AskStack[take, time.Duration]) core.Yield {
	now.handled(s.Req, time.Duration(core.Now(s)))
	return b.take(s)
})

func (s *sim) handled(t take, at time.Duration) {
	key := string(t.key)
	if s.models[key] == nil {
		s.models[key] = newModel(s.like)
	}
	left := s.models[key].take(s.like, at, t.n)
	if left >= 0 {
		s.grants[key] = append(s.grants[key], grant{t.n, at})
	}
	s.right[&t.key[0]], s.last = left, at
}

func (s *sim) take(key string) take { return take{[]byte(key), 1 + s.rng.Int64N(s.like.burst)} }

// wantRight requires that the answer to a take is right.
func (s *sim) wantRight(t take, left time.Duration, err error) {
	s.Helper()
	require.NoError(s, err, "seed %d", s.Seed)
	require.Equal(s, s.right[&t.key[0]], left, "seed %d: %d of %s", s.Seed, t.n, t.key)
}

// end returns how many actors there were, when all buckets have gone.
func (s *sim) end() (made int) {
	s.Run(s.like.fill() + 10*time.Millisecond)
	require.Zero(s, s.buckets.Len(), "seed %d", s.Seed)
	for key, grants := range s.grants {
		require.True(s, lawful(s.like, grants), "seed %d: %s: %v", s.Seed, key, grants)
	}
	require.Zero(s, s.starts.Dropped(), "seed %d", s.Seed)
	made = len(s.starts.C())
	s.starts.Close()
	require.NoError(s, s.Shutdown(s.Context()))
	return made
}

// asker takes from random keys, and pauses in between: for a moment, for about as long as a bucket
// that nobody asks stays, or longer.
type asker struct{ *sim }

type askerStack struct {
	core.AskStack[int, struct{}] // how many times
	left                         core.Future[time.Duration]
	tick                         core.Future[core.Tick]
	take                         take
}

var askerAsk = core.Handle((*asker).next)

func (a *asker) next(s *askerStack) core.Yield {
	if s.Req--; s.Req < 0 {
		return s.Return(struct{}{})
	}
	s.take = a.sim.take(fmt.Sprint("key.", a.rng.IntN(6)))
	a.port.Ask(s, &s.left, s.take)
	return core.Suspend(s, (*asker).answered)
}

func (a *asker) answered(s *askerStack) core.Yield {
	left, err := s.left.Get()
	a.wantRight(s.take, left, err)
	clear(s.take.key) // nobody reads it any more
	pause := time.Duration(a.rng.Int64N(int64(a.like.every)))
	switch a.rng.IntN(4) {
	case 0:
		pause += a.like.fill() - a.like.every/2
	case 1:
		pause = a.like.fill()
	case 2:
		pause *= 3 * time.Duration(a.like.burst)
	}
	core.Timer.Ask(s, &s.tick, pause)
	return core.Suspend(s, (*asker).next)
}

// TestBucketsThatComeAndGo: buckets passivate while others ask, and are asked for again. Each take
// is answered as by a bucket that had always been there.
func TestBucketsThatComeAndGo(t *testing.T) {
	const seeds, askers, each = 100, 4, 60
	made := 0
	for seed := range uint64(seeds) {
		s := newSim(t, seed)
		if seed%4 == 0 {
			s.Steps = func() time.Duration { return time.Duration(s.rng.IntN(20)) * time.Microsecond }
		}
		var all [askers]core.Pending[struct{}]
		for i := range all {
			all[i] = core.Begin(askerAsk.At(core.Spawn(s.Sim, func() *asker { return &asker{s} })), each)
		}
		for i := range all {
			for !all[i].Ready() {
				require.Less(t, s.Now, int64(time.Hour), "seed %d", seed)
				s.Run(s.like.every)
			}
			_, err := all[i].Get()
			require.NoError(t, err, "seed %d", seed)
		}
		made += s.end()
	}
	require.Greater(t, made, seeds*(askers+6*3), "few have gone")
}

// TestTakeFromABucketThatGoes: whoever asks at the moment at which it goes is answered by that one
// or by the next.
func TestTakeFromABucketThatGoes(t *testing.T) {
	const seeds, each = 100, 20
	made := 0
	for seed := range uint64(seeds) {
		s := newSim(t, seed)
		for range each {
			_, err := housetest.Ask(t, s.Sim, s.port, s.take("key"))
			require.NoError(t, err, "seed %d", seed)
			s.Run(s.last + s.like.fill() - time.Duration(s.Now) - 15*time.Microsecond)
			for range s.rng.IntN(25) {
				s.Turn()
			}
			second := s.take("key")
			left, err := housetest.Ask(t, s.Sim, s.port, second)
			s.wantRight(second, left, err)
			s.Run(s.like.fill() + 10*time.Millisecond)
		}
		made += s.end()
	}
	require.Greater(t, made, seeds*each*5/4, "few went before the second take")
	require.Less(t, made, seeds*each*7/4, "few went behind it")
}
