package session

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// chance is a session whose connections live, and carry, as chance has it.
type chance struct {
	*pair
	r      *rand.Rand
	lazy   int // an ACK that is due waits for about so many steps
	silent int // steps without a byte
	busy   int // bytes that a step carries at most
}

func sizesByChance(r *rand.Rand, n, most int) (sizes []int) {
	for range n {
		size := least + r.IntN(most-least+1)
		if r.IntN(3) > 0 {
			size = least + r.IntN(min(9, most-least+1))
		}
		sizes = append(sizes, size)
	}
	return sizes
}

func makeChance(seed uint64) *chance {
	r := rand.New(rand.NewPCG(seed, 2))
	size := 2*least + r.IntN(80)
	window := size*(1+r.IntN(5)) + r.IntN(size)
	a, b := sizesByChance(r, r.IntN(200), size), sizesByChance(r, r.IntN(200), size)
	// a connection takes a frame at least, when it is empty but for an ACK and a PING
	return &chance{pair: makePair(window, size, size+20+r.IntN(200), a, b), r: r, lazy: 1 + r.IntN(20), busy: 1 + r.IntN(100)}
}

// step moves some bytes, either way.
func (c *chance) step() {
	n := 0
	for _, way := range [2][2]*end{{c.a, c.b}, {c.b, c.a}} {
		from, to := way[0], way[1]
		if c.r.IntN(3) > 0 {
			from.write()
		}
		if c.r.IntN(c.lazy) == 0 {
			from.acknowledge()
		}
		n += carry(from, to, c.r.IntN(c.busy+1))
		if c.r.IntN(4) > 0 {
			to.read()
		}
	}
	if c.silent++; n > 0 {
		c.silent = 0
	}
	if c.silent > 10*c.lazy {
		c.a.ask()
		c.b.ask()
		c.silent = 0
	}
}

// long is after how many steps of one connection something must have come of it.
func (c *chance) long() int { return 40*c.lazy + 40*(c.a.room+100)/c.busy + 400 }

// TestSessionsByChance plays sessions whose connections are lost, mostly soon, with small windows
// and late ACKs. The first difference is told with its seed.
func TestSessionsByChance(t *testing.T) {
	connections := 0
	for seed := range uint64(1500) {
		c := makeChance(seed)
		about := fmt.Sprintf("seed %d", seed)
		for c.problem() == "" && !(c.a.done() && c.b.done()) {
			require.Less(t, c.connections, 20_000, "%s: it doesn't end", about)
			before := c.progress()
			life := c.r.IntN(1 + c.r.IntN(60))
			if c.r.IntN(20) == 0 {
				life = c.long()
			}
			c.connect()
			c.silent = 0
			for range life {
				c.step()
			}
			if life == c.long() && c.progress() == before && !(c.a.done() && c.b.done()) {
				t.Fatalf("%s: nothing came of a connection of %d steps: %+v, %+v", about, life, c.a.out.Left(), c.b.out.Left())
			}
		}
		require.Empty(t, c.finish(), about)
		connections += c.connections
	}
	require.Greater(t, connections, 15_000, "connections are hardly lost")
}

// TestGapOfSessionGivenUp gives sessions up at any moment. What came and what the writer reports as
// not acknowledged is all that was written, and what is in both is no more than the window; what
// the writer says was not sent never came.
func TestGapOfSessionGivenUp(t *testing.T) {
	overlaps := 0
	for seed := range uint64(400) {
		c := makeChance(seed)
		for range 1 + c.r.IntN(4) {
			c.connect()
			for range c.r.IntN(300) {
				c.step()
			}
		}
		for _, way := range [2][2]*end{{c.a, c.b}, {c.b, c.a}} {
			from, to := way[0], way[1]
			window := uint64(from.out.window)
			left := from.out.End()
			read := to.in.Position() // the gap is from there to left.End
			require.GreaterOrEqual(t, read+(left.End-left.Acknowledged), left.End, "seed %d", seed)
			require.LessOrEqual(t, read-left.Acknowledged, window, "seed %d", seed)
			require.LessOrEqual(t, read, left.Written, "seed %d", seed)
			sum := 0
			for _, size := range from.sizes[:to.got] {
				sum += size
			}
			require.EqualValues(t, sum, read, "seed %d: positions are those of the frames that came", seed)
			require.Zero(t, out(from.shard), "seed %d", seed)
			if read > left.Acknowledged {
				overlaps++
			}
		}
		require.Empty(t, c.problem(), "seed %d", seed)
	}
	require.Greater(t, overlaps, 100, "hardly anything was under way")
}
