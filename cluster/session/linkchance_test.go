package session

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// step does one thing of those that can happen. Trouble says how often it is something bad.
func (w *net) step(r *rand.Rand, trouble int) {
	lively := w.lively()
	switch n := r.IntN(40 + trouble); {
	case n < 4 && len(w.dials) > 0:
		w.complete(r.IntN(len(w.dials)), trouble == 0 || r.IntN(3) > 0)
	case n < 34 && len(lively) > 0:
		at := lively[r.IntN(len(lively))]
		w.deliver(w.lines[at[0]], at[1])
	case n < 36 && trouble > 0:
		n := w.nodes[r.IntN(2)]
		n.write(r.IntN(n.link.Tracks()))
	case trouble == 0 && len(lively)+len(w.dials) > 0: // time passes when nothing else can happen
	case n < 40:
		if at, ok := w.wake(); ok && r.IntN(2) == 0 {
			w.tick(at)
		} else {
			w.tick(w.now + r.Int64N(300*millisecond))
		}
	case len(w.lines) > 0:
		w.harm(r, w.lines[r.IntN(len(w.lines))])
	}
}

// harm loses a connection. Each end hears of it once it has read a part of what was on its way; or
// neither does, and nothing passes any more.
func (w *net) harm(r *rand.Rand, l *line) {
	if r.IntN(2) == 0 {
		l.mute = true
	}
	for side := range 2 {
		l.queue[side] = l.queue[side][:r.IntN(len(l.queue[side])+1)]
		if !l.mute {
			l.queue[side] = append(l.queue[side], nil)
		}
	}
	l.mute = true
}

// TestLinksByChance has two nodes, of which both can dial or one, write to each other over some
// tracks, with dials that fail, connections that are lost, heard of or not, long pauses, and
// sessions given up. Every message of a session comes once and in order; one session is never taken
// for another; what doesn't come is reported; when all is well again, so are both nodes; and when
// nothing is wanted any more, all is closed, and nothing dialled.
func TestLinksByChance(t *testing.T) {
	reasons, refused, delivered := map[Reason]int{}, map[error]int{}, uint64(0)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := makeNet(1+r.IntN(4), 1+r.IntN(4))
		if seed%3 == 0 {
			w.cant = nodeNames[r.IntN(2)]
		}
		for range 300 + r.IntN(1000) {
			w.step(r, 1+int(seed%5)*3)
			if r.IntN(300) == 0 { // nothing passes for so long that patience may end, at one end or both
				for _, l := range w.lines {
					w.harm(r, l)
				}
				w.nodes[r.IntN(2)].write(0)
				for end := w.now + 20*second + r.Int64N(15*second); w.now < end; {
					for i := len(w.dials) - 1; i >= 0; i-- {
						w.complete(i, false)
					}
					w.tick(w.now + second)
				}
			}
			if i := r.IntN(2); seed%2 == 0 && r.IntN(400) == 0 {
				before := w.nodes[i].link.self.Incarnation
				if w.start(i, before+1, 1+r.IntN(4)); r.IntN(2) == 0 {
					w.nodes[1-i].link.Died(before)
					w.nodes[1-i].settle()
				}
			}
			require.Empty(t, w.problem, "seed %d", seed)
		}
		w.heal(t, seed, r)
		w.rest(t, seed)
		for _, n := range w.nodes {
			for _, why := range n.given {
				reasons[why]++
			}
			for err, times := range n.refuse {
				refused[err] += times
			}
			if seed%2 == 1 {
				require.Zero(t, n.refuse[ErrNeverSent]+n.refuse[ErrIncarnation], "seed %d", seed)
			}
			require.Zero(t, n.refuse[ErrBack]+n.refuse[ErrInside]+n.refuse[ErrOver]+n.refuse[ErrName]+n.refuse[ErrTracks], "seed %d", seed)
			for epoch, f := range n.log {
				require.GreaterOrEqual(t, f.delivered+f.reported, f.written, "seed %d, epoch %d of %s", seed, epoch, n.name)
				require.LessOrEqual(t, f.delivered, f.written, "seed %d", seed)
				if epoch == n.epoch {
					require.Equal(t, f.written, f.delivered, "seed %d: the session that lives loses nothing", seed)
					require.Zero(t, f.reported, "seed %d", seed)
				}
				delivered += f.delivered
			}
		}
	}
	t.Logf("%d delivered, given up: %v, refused: %v", delivered, reasons, refused)
	for _, err := range []error{ErrTaken, ErrSession, ErrIncarnation, ErrNeverSent} {
		require.NotZero(t, refused[err], "%v", err)
	}
	require.Greater(t, reasons[Dead], 20)
	require.Greater(t, delivered, uint64(10_000))
	require.Greater(t, reasons[Unreachable], 100)
	require.Greater(t, reasons[Renewed], 20)
}

// heal lets all that happens be good, until one node has written something over each track, and the
// other over the first, too, and all has come: nobody need wait for the other to say something.
func (w *net) heal(t *testing.T, seed uint64, r *rand.Rand) {
	t.Helper()
	agreed := min(len(w.nodes[0].tracks), len(w.nodes[1].tracks))
	silent := nodeNames[seed/2%2]
	if w.cant != "" {
		silent = w.cant
	}
	for turn := range agreed + 1 {
		i, both := turn%agreed, turn == agreed
		wrote := [2]uint64{} // in which epoch: another one needs another message
		done := func() bool {
			for k, n := range w.nodes {
				if !both && n.name == silent {
					continue
				}
				if i >= n.link.Tracks() { // of a new session: that must begin
					if left := n.tracks[0].out.Left(); left.End == 0 {
						n.write(0)
					}
					return false
				}
				if wrote[k] != n.epoch && n.write(i) {
					wrote[k] = n.epoch
				}
				if left := n.tracks[i].out.Left(); wrote[k] != n.epoch || left.Acknowledged < left.End {
					return false
				}
			}
			return w.agree(i) == ""
		}
		start := w.now
		for steps := 0; !done(); steps++ {
			require.Empty(t, w.problem, "seed %d", seed)
			if steps > 20_000 || w.now > start+200*second {
				t.Fatalf("seed %d: stuck: %s, %+v, %+v", seed, w.agree(i), w.nodes[0].link, w.nodes[1].link)
			}
			w.step(r, 0)
		}
	}
}

// rest lets all come that is on its way, and time pass until nobody waits for any more of it.
func (w *net) rest(t *testing.T, seed uint64) {
	t.Helper()
	for steps := 0; ; steps++ {
		require.Empty(t, w.problem, "seed %d", seed)
		require.Less(t, steps, 20_000, "seed %d: no rest", seed)
		if lively := w.lively(); len(lively) > 0 {
			w.deliver(w.lines[lively[0][0]], lively[0][1])
		} else if len(w.dials) > 0 {
			w.complete(0, true)
		} else if at, ok := w.wake(); ok {
			w.tick(at)
		} else {
			break
		}
	}
	for _, n := range w.nodes {
		for i := range n.tracks {
			require.Equal(t, Down, n.link.State(i), "seed %d", seed)
		}
	}
}
