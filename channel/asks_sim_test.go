package channel_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// reader is the other end of a connection in a simulation of scribes.
type reader struct {
	*housetest.Peer
	got   []byte
	wants []string // results
	left  bool     // it has closed, or broken, the connection
	ends  bool     // the connection may end before its results are written
}

// written is a draft that a scribe was given.
type written struct {
	core.Pending[[]error]
	words []string
	by    int
	to    *reader
}

// TestAskSimulations: scribes on all workers send to connections by Ask and Notice, of which some
// end, or are closed by a scribe. Each ask is answered once, with what the other end has got to
// show for it, each end is heard of once, and what arrives is in order.
func TestAskSimulations(t *testing.T) {
	outcomes := map[error]int{}
	for seed := range seeds() {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { simulateAsks(t, seed, outcomes) })
	}
	t.Log(outcomes)
	for _, err := range []error{nil, core.ErrMailboxFull, core.ErrNotSent, core.ErrLost, core.ErrTimeout} {
		require.True(t, outcomes[err] > 0 || few(seeds()), "%v", err)
	}
}

func simulateAsks(t *testing.T, seed uint64, outcomes map[error]int) {
	rng := rand.New(rand.NewPCG(seed, 5))
	workers := 1 + rng.IntN(3)
	sim := housetest.New(t, seed, house.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler), AskTimeout: time.Hour})
	var scribes []core.Address[scribe]
	first := newScribe()
	for i, on := range sim.Workers() {
		if i > 0 {
			scribes = append(scribes, core.Spawn(on, newScribe))
			first.others = append(first.others, scribeJoins.At(scribes[i-1]))
		}
	}
	scribes = append(scribes, core.Spawn(sim.Workers()[0], func() *scribe { return first }))
	c := config{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec, WriteTimeout: 10 * time.Hour,
		OutputMax: 1 + rng.IntN(1<<rng.IntN(14)), PendingMax: rng.IntN(1 << rng.IntN(8)), InflightMax: rng.IntN(10)}
	server, err := channel.Listen(t.Context(), c, hallServe,
		core.Spawn(sim.Workers()[rng.IntN(workers)], func() *hall { return &hall{other: scribeJoins.At(scribes[workers-1])} }))
	require.NoError(t, err)

	var all []*reader
	for range 1 + rng.IntN(4) { // one after the other, so that it is known which is which
		r := &reader{Peer: sim.Net.Dial(server.Addr())}
		sim.Run(time.Millisecond)
		says(t, sim, r.Peer, "join x\n", "x\n")
		all = append(all, r)
	}
	sim.Net.Faults = housetest.Draw(rng)
	sim.Net.Faults.Resets = 0
	read := func(most int) {
		for _, r := range all {
			if !r.left {
				r.got = append(r.got, r.Read(most)...)
			}
		}
	}
	var scripts []*written
	late := uint64(0) // answers for which nobody waits, at most
	for i := range rng.IntN(300) {
		switch r := all[rng.IntN(len(all))]; rng.IntN(8) {
		case 0, 1, 2:
			w := &written{by: rng.IntN(workers), to: r}
			for k := range 1 + rng.IntN(8) {
				word := fmt.Sprintf("#%d.%d.%d.%s", w.by, i, k, strings.Repeat("m", rng.IntN(1<<rng.IntN(11))))
				switch {
				case rng.IntN(1000) == 0:
					word, r.ends = "/close", true
				case rng.IntN(3) > 0:
					word = "!" + word
				}
				w.words = append(w.words, word)
			}
			how := draft{words: strings.Join(w.words, " "), before: len(all) - 1 - slices.Index(all, r)}
			if rng.IntN(4) == 0 {
				how.within = time.Duration(1 + rng.IntN(1<<rng.IntN(30)))
			}
			w.Pending = core.Begin(scribeWrites.At(scribes[w.by]), how)
			scripts = append(scripts, w)
		case 3, 4:
			verb := []string{"two", "slow", "x"}[rng.IntN(3)]
			line := fmt.Sprintf("%s %d\n", verb, i)
			switch n := r.Write([]byte(line)); {
			case n == len(line) && verb == "two":
				late++ // if the part is given up
				r.wants = append(r.wants, fmt.Sprint(i), fmt.Sprint(i))
			case n == len(line):
				r.wants = append(r.wants, fmt.Sprint(i))
			case n > 0:
				r.left = true
				r.Reset()
			}
		case 5:
			if rng.IntN(50) == 0 {
				r.left = true
				if rng.IntN(2) == 0 {
					r.Reset()
				} else {
					r.Peer.Close()
				}
			}
		}
		for range rng.IntN(5) {
			sim.Turn()
		}
		if rng.IntN(10) == 0 {
			sim.Run(time.Duration(rng.IntN(1 << rng.IntN(25))))
		}
		read(1 << rng.IntN(12))
	}
	sim.Net.Faults = housetest.Faults{}
	for range 100 {
		sim.Run(100 * time.Millisecond)
		read(1 << 20)
	}
	for _, w := range scripts {
		require.True(t, w.Ready(), "seed %d: a draft waits", seed)
		errs, err := w.Get()
		require.NoError(t, err)
		for i, word := range w.words {
			compare(t, seed, w.to, word, errs[i], outcomes)
			if errs[i] == core.ErrTimeout {
				late++
			}
		}
	}
	for _, r := range all {
		r.inOrder(t, seed)
		if !r.left {
			r.Peer.Close()
		}
	}
	require.NoError(t, server.Close(t.Context()))
	for _, at := range scribes {
		counts, err := housetest.Ask(t, sim, scribeTells.At(at), struct{}{})
		require.NoError(t, err)
		require.Equal(t, slices.Repeat([]int{1}, len(all)), counts, "seed %d", seed)
	}
	require.LessOrEqual(t, sim.Stats().Late, late, "seed %d: answers", seed)
}

// compare compares how a word ended with what has arrived.
func compare(t *testing.T, seed uint64, to *reader, word string, err error, outcomes map[error]int) {
	text, asked := strings.CutPrefix(word, "!")
	came := strings.Contains("\n"+string(to.got), "\n"+text+"\n")
	if !asked {
		require.False(t, err != nil && came, "seed %d: %.20s came in spite of %v", seed, word, err)
		return
	}
	how := err
	for _, known := range []error{core.ErrMailboxFull, core.ErrNotSent, core.ErrLost, core.ErrTimeout} {
		if errors.Is(err, known) {
			how = known
		}
	}
	outcomes[how]++
	switch how {
	case nil:
		require.True(t, came || to.left, "seed %d: %.20s hasn't come", seed, word)
	case core.ErrMailboxFull, core.ErrNotSent, core.ErrLost:
		require.False(t, came, "seed %d: %.20s came in spite of %v", seed, word, err)
	case core.ErrTimeout:
	default:
		require.NoError(t, err, "seed %d", seed)
	}
}

// inOrder requires that results have come in the order of their requests, the messages of each
// scribe in that in which they were sent, and neither in the middle of the other.
func (r *reader) inOrder(t *testing.T, seed uint64) {
	last, inTwo, results := map[int]int{}, "", []string(nil)
	for line := range strings.Lines(string(r.got)) {
		if !strings.HasSuffix(line, "\n") {
			require.True(t, r.left, "seed %d: %.20s ends early", seed, line)
			break
		}
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			var by, i, k int
			_, err := fmt.Sscanf(line, "#%d.%d.%d.", &by, &i, &k)
			require.NoError(t, err)
			require.Greater(t, i*10+k, last[by]-1, "seed %d: messages in another order", seed)
			last[by] = i*10 + k + 1
			require.Empty(t, inTwo, "seed %d: a message between parts", seed)
			continue
		}
		results = append(results, line)
		if n := len(results); inTwo == line {
			inTwo = ""
		} else if n < len(r.wants) && r.wants[n] == line {
			inTwo = line
		}
	}
	wants := r.wants
	if r.left || r.ends {
		wants = wants[:min(len(results), len(wants))]
	}
	require.Equal(t, strings.Join(wants, " "), strings.Join(results, " "), "seed %d", seed)
}
