package channel_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// witness is a lineCodec that notes which lines came to the server.
type witness struct {
	lineCodec
	seen map[string]int
}

func (c *witness) Decode(in []byte, req *request) (int, error) {
	n, err := c.lineCodec.Decode(in, req)
	if n > 0 && err == nil {
		c.seen[string(req.line)]++
	}
	return n, err
}

// question is an ask in progress, and what its reply must be.
type question struct {
	line, want string
	err        string // the error that the server replies; "": none
	pending    core.Pending[reply]
	ended      bool
}

// questions is the asks of one run, and how they have ended.
type questions struct {
	t    *testing.T
	seed uint64
	rng  *rand.Rand
	n    int // asked so far
	open []*question
	ends map[string]int
	// lines that no byte of may have come to the server
	unsent []string
}

// ask asks something by one of the ports; all lines are different.
func (q *questions) ask(direct core.Port[request, reply], callers []core.Port[call, reply]) {
	q.n++
	a := &question{}
	switch id := fmt.Sprintf("%d", q.n); q.rng.IntN(10) {
	case 0:
		a.line, a.err = "throw e"+id, "e"+id
	case 1:
		a.want = fmt.Sprintf("x%s%s", id, bytes.Repeat([]byte("long"), q.rng.IntN(1<<q.rng.IntN(14))))
		a.line = a.want
	case 2, 3:
		a.line, a.want = fmt.Sprintf("after %d late%s", q.rng.IntN(1<<q.rng.IntN(12)), id), "late"+id
	case 4:
		a.want = "client-alone " + id
		a.line = a.want
	default:
		a.want = "x" + id
		a.line = a.want
	}
	if q.rng.IntN(2) == 0 {
		a.pending = core.Begin(direct, request{[]byte(a.line)})
	} else {
		c := call{line: []byte(a.line)}
		if q.rng.IntN(3) == 0 {
			c.limit = time.Duration(1 + q.rng.Int64N(1<<q.rng.IntN(33)))
		}
		a.pending = core.Begin(callers[q.rng.IntN(len(callers))], c)
	}
	q.open = append(q.open, a)
}

// look ends the questions that are answered.
func (q *questions) look() {
	left := q.open[:0]
	for _, a := range q.open {
		if a.pending.Ready() {
			q.answered(a)
		} else {
			left = append(left, a)
		}
	}
	clear(q.open[len(left):])
	q.open = left
}

func (q *questions) answered(a *question) {
	var text string
	err := a.pending.GetInto(func(rep *reply) { text = string(rep.text) })
	var replied errReply
	switch {
	case err == nil:
		require.Equal(q.t, a.want, text, "seed %d: the reply to %.60q", q.seed, a.line)
		q.ends["replied"]++
	case errors.As(err, &replied):
		require.Equal(q.t, a.err, string(replied), "seed %d: the error for %.60q", q.seed, a.line)
		q.ends["replied"]++
	default:
		require.True(q.t, isOutcome(err), "seed %d: %.60q ended with %v", q.seed, a.line, err)
		name := "other"
		for known, says := range map[error]string{core.ErrNotSent: "not sent", core.ErrLost: "lost", core.ErrTimeout: "timeout", core.ErrOverloaded: "overloaded"} {
			if errors.Is(err, known) {
				name = says
			}
		}
		if name == "not sent" || name == "overloaded" {
			q.unsent = append(q.unsent, a.line)
		}
		q.ends[name]++
	}
}

// simulateClient has actors and guests ask a server, by a client, over a network in which much goes
// wrong; then nothing any more, and all that they ask must be answered.
func simulateClient(t *testing.T, seed uint64, ends map[string]int) (hash uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	some := func(most int) int { return max(0, rng.IntN(2*most)-most) }
	sim := housetest.New(t, seed, house.Config{Workers: 1 + rng.IntN(3), Budget: rng.IntN(3), AskTimeout: time.Duration(1+rng.IntN(20)) * time.Second, Logger: slog.New(slog.DiscardHandler)})
	sim.Steps = func() time.Duration { return time.Duration(rng.IntN(1 << rng.IntN(16))) }
	seen := map[string]int{}
	var server *server
	serveAgain := func() {
		var fronts []core.Address[front]
		for _, on := range sim.Workers() {
			fronts = append(fronts, core.Spawn(on, func() *front { return &front{} }))
		}
		var err error
		server, err = channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:80",
			Codec:       func() channel.Codec[request, reply] { return &witness{seen: seen} },
			InflightMax: some(1 << rng.IntN(6)), OutputMax: some(1 << rng.IntN(16)), ReadSize: some(1 << rng.IntN(12)),
		}, serve, fronts...)
		require.NoError(t, err)
	}
	serveAgain()
	c := clientConfig{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineClient,
		Conns: some(4), InflightMax: some(1 << rng.IntN(6)), PendingMax: some(1 << rng.IntN(8)), ReadSize: some(1 << rng.IntN(12)), OutputMax: some(1 << rng.IntN(16)),
		ConnectTimeout: 100*time.Millisecond + time.Duration(some(1<<rng.IntN(33))), ReplyTimeout: 200*time.Millisecond + time.Duration(some(1<<rng.IntN(34))),
		IdleTimeout: time.Duration(some(1 << rng.IntN(36)))}
	client, err := channel.Dial(t.Context(), sim.System, c)
	require.NoError(t, err)
	var callers []core.Port[call, reply]
	for _, on := range sim.Workers() {
		callers = append(callers, callerAsk.At(core.Spawn(on, func() *caller { return &caller{client.Port()} })))
	}
	forward := passerAsk.At(core.Spawn(sim.System, func() *passer { return &passer{client.Port()} }))

	q := &questions{t: t, seed: seed, rng: rng, ends: ends}
	sim.Net.Faults = housetest.Draw(rng)
	for range rng.IntN(2000) {
		if port := client.Port(); rng.IntN(3) > 0 {
			if rng.IntN(4) == 0 {
				port = forward
			}
			q.ask(port, callers)
		}
		for range rng.IntN(4) {
			sim.Turn()
		}
		if rng.IntN(50) == 0 {
			sim.Run(time.Duration(rng.IntN(1 << rng.IntN(30))))
		}
		if rng.IntN(300) == 0 {
			require.NoError(t, server.Close(t.Context()))
			sim.Run(time.Duration(rng.IntN(1 << rng.IntN(32))))
			serveAgain()
		}
		q.look()
	}

	sim.Net.Faults = housetest.Faults{}
	sim.Run(time.Minute)
	q.look()
	require.Empty(t, q.open, "seed %d: asks are never answered", seed)
	for i := range 10 {
		line := fmt.Sprintf("healed%d", i)
		rep, err := housetest.Ask(t, sim, callers[rng.IntN(len(callers))], call{line: []byte(line)})
		require.NoError(t, err, "seed %d: all is healed", seed)
		require.Len(t, rep.text, len(line))
	}
	for line, n := range seen {
		require.Equal(t, 1, n, "seed %d: %.60q came to the server several times", seed, line)
	}
	for _, line := range q.unsent {
		require.Zero(t, seen[line], "seed %d: %.60q wasn't sent, and came to the server", seed, line)
	}
	require.NoError(t, client.Close(t.Context()))
	require.NoError(t, server.Drain(t.Context()))
	require.Zero(t, client.Stats().Conns)
	sim.Run(3 * time.Second)
	require.Zero(t, sim.Net.Open(), "seed %d: descriptors are open", seed)
	return sim.Hash()
}

// TestClientSimulations: a client and its server over simulated networks by seeds, each of which is
// run twice and must do the same.
func TestClientSimulations(t *testing.T) {
	ends := map[string]int{}
	for seed := range seeds() {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			hash := simulateClient(t, seed, ends)
			require.Equal(t, hash, simulateClient(t, seed, map[string]int{}), "the same seed does something else")
		})
	}
	t.Logf("%v", ends)
	for _, end := range []string{"replied", "not sent", "lost", "timeout", "overloaded"} {
		require.NotZero(t, ends[end], "no ask ended so: "+end)
	}
}
