package main

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack"
)

// driver asks the stores as a front does, with random commands on keys of its own,
// and compares the replies with its model's.
type driver struct {
	stores *stores
	rng    *rand.Rand
	name   string
	model  model
}

// drive is a run of some commands.
type drive struct {
	core.AskStack[int, int]
	words []string
	parts [storesMax]core.Future[resp.Reply]
}

var driverDrive = core.Handle((*driver).drive)

func (d *driver) drive(s *drive) core.Yield {
	if s.Req == 0 {
		return s.Return(len(d.model.keys))
	}
	s.Req--
	s.words = d.draw()
	var cmd resp.Command
	text := resp.AppendCommand(nil, s.words...)
	decoder := resp.NewDecoder(resp.Limits{})
	if n, err := decoder.Decode(text, &cmd); n != len(text) {
		return s.Throw(fmt.Errorf("%q is not decoded: %w", s.words, err))
	}
	e := lookup(cmd.Arg(0))
	ask := func(i int, p core.Port[request, resp.Reply]) {
		bytes := stack.Of(s).Engine().Shard.Copy(text)
		p.Ask(s, &s.parts[i], request{do: e.do, bytes: bytes})
	}
	if e.merge == nil {
		ask(0, d.stores.ports[d.stores.of(cmd.Arg(1))])
	} else {
		for i, p := range d.stores.ports {
			ask(i, p)
		}
	}
	return core.Suspend(s, (*driver).compare)
}

// draw draws a command that has nothing to do with time, connections or others' keys,
// and that a store does.
func (d *driver) draw() []string {
	for {
		words := randomCommand(d.rng)
		e := lookup([]byte(words[0]))
		switch words[0] {
		case "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME",
			"SETEX", "PSETEX", "GETEX", "DBSIZE", "FLUSHALL":
			continue
		case "SET":
			words = words[:3]
		}
		if e.do == nil {
			continue
		}
		step := 1
		if words[0] == "MSET" {
			step = 2
		}
		keys := words[1:]
		if e.merge == nil {
			keys = keys[:1]
		}
		for i := 0; i < len(keys); i += step {
			keys[i] = d.name + keys[i]
		}
		return words
	}
}

func (d *driver) compare(s *drive) core.Yield {
	got := d.merged(s)
	if want, _ := d.model.do(s.words); !agrees(got, want, 0) {
		return s.Throw(fmt.Errorf("%q: %q, want %q", s.words, got, want))
	}
	return d.drive(s)
}

// merged returns the reply to the command of s.
func (d *driver) merged(s *drive) string {
	e := lookup([]byte(s.words[0]))
	var rest [storesMax][]byte
	var sum int64
	for i := range d.stores.ports {
		rep, err := s.parts[i].Get()
		if err != nil || e.merge == nil {
			return flat(resp.AppendReply(nil, &rep))
		}
		rest[i] = rep.Str
		sum += rep.Int
	}
	switch s.words[0] {
	case "MSET":
		return "+OK"
	case "MGET":
		out := resp.AppendArray(nil, len(s.words)-1)
		for _, key := range s.words[1:] {
			i := d.stores.of([]byte(key))
			n := bulkLen(rest[i])
			out = append(out, rest[i][:n]...)
			rest[i] = rest[i][n:]
		}
		return flat(out)
	}
	return fmt.Sprint(":", sum)
}

// simulate runs two drivers against two stores and returns the hash of the events.
func simulate(t *testing.T, seed uint64) (hash uint64) {
	t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
		sim := housetest.New(t, seed, house.Config{Workers: 2, Budget: 1 + int(seed%5)})
		c := newStores(sim.System, seed, 0)
		var pending []core.Pending[int]
		for i, w := range sim.Workers() {
			at := core.Spawn(w, func() *driver {
				return &driver{stores: c, rng: rand.New(rand.NewPCG(seed, uint64(i))), name: fmt.Sprint(i, "/"),
					model: model{keys: map[string]entryOf{}}}
			})
			pending = append(pending, core.Begin(driverDrive.At(at), 60))
		}
		sim.Run(250 * time.Millisecond)
		for _, p := range pending {
			require.True(t, p.Ready(), "seed %d: a driver is stuck", seed)
			_, err := p.Get()
			require.NoError(t, err, "seed %d", seed)
		}
		hash = sim.Hash()
	})
	return hash
}

// TestSimulation: the same seed gives the same events, and the stores are right
// under each order of turns.
func TestSimulation(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(200) {
		first := simulate(t, seed)
		require.Equal(t, first, simulate(t, seed), "seed %d: two runs differ", seed)
		seen[first] = true
	}
	require.Len(t, seen, 200, "other seeds, other events")
}
