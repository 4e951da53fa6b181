package channel_test

import (
	"errors"
	"fmt"
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

// opened is an ask in progress, and what its reply must be.
type opened struct {
	line, want string
	err        string // the error that the server replies; "": none
	pending    core.Pending[reply]
}

// questions is the asks of one run, and how they have ended.
type questions struct {
	t    testing.TB
	n    int // asked so far
	open []*opened
	ends map[string]int
	// lines that no byte of may have come to the server
	unsent []string
}

// ask asks something; all lines are different.
func (q *questions) ask(a *question, direct, passer core.Port[request, reply], callers []core.Port[call, reply]) {
	q.n++
	o := &opened{}
	o.line, o.want, o.err = a.lines(q.n)
	switch a.By {
	case "caller":
		o.pending = core.Begin(callers[a.Who%len(callers)], call{[]byte(o.line), a.Limit})
	case "passer":
		o.pending = core.Begin(passer, request{[]byte(o.line)})
	default:
		o.pending = core.Begin(direct, request{[]byte(o.line)})
	}
	q.open = append(q.open, o)
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

func (q *questions) answered(a *opened) {
	var text string
	err := a.pending.GetInto(func(rep *reply) { text = string(rep.text) })
	var replied errReply
	switch {
	case err == nil:
		require.Equal(q.t, a.want, text, "the reply to %.60q", a.line)
		q.ends["replied"]++
	case errors.As(err, &replied):
		require.Equal(q.t, a.err, string(replied), "the error for %.60q", a.line)
		q.ends["replied"]++
	default:
		require.True(q.t, isOutcome(err), "%.60q ended with %v", a.line, err)
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
func simulateClient(t testing.TB, p clientPlan, ends map[string]int) run {
	rng := rand.New(rand.NewPCG(p.Seed, 4))
	hc := house.Config{Workers: max(1, p.Workers), Budget: p.Budget}
	if p.AskTimeout > 0 {
		hc.AskTimeout = max(time.Second, p.AskTimeout)
	}
	sim := simulated(t, p.Seed, p.Untraced, p.Steps, rng, hc)
	seen := map[string]int{}
	serveAgain := func() *server {
		var fronts []core.Address[front]
		for _, on := range sim.Workers() {
			fronts = append(fronts, core.Spawn(on, func() *front { return &front{} }))
		}
		server, err := channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:80",
			Codec:       func() channel.Codec[request, reply] { return &witness{seen: seen} },
			InflightMax: p.Server.InflightMax, OutputMax: p.Server.OutputMax, ReadSize: p.Server.ReadSize,
		}, serve, fronts...)
		require.NoError(t, err)
		return server
	}
	server := serveAgain()
	settings := p.Client.config()
	settings.Stages = whimsOf(p.Seed, p.Whims)
	client, err := channel.Dial(t.Context(), sim.System, settings)
	require.NoError(t, err)
	var callers []core.Port[call, reply]
	for _, on := range sim.Workers() {
		callers = append(callers, callerAsk.At(core.Spawn(on, func() *caller { return &caller{client.Port()} })))
	}
	passer := passerAsk.At(core.Spawn(sim.System, func() *passer { return &passer{client.Port()} }))

	q := &questions{t: t, ends: ends}
	sim.Net.Faults = p.Faults
	for _, m := range p.Moments {
		if m.Ask != nil {
			q.ask(m.Ask, client.Port(), passer, callers)
		}
		for range m.Turns {
			sim.Turn()
		}
		if m.Pass > 0 {
			sim.Run(m.Pass)
		}
		if m.Restart {
			require.NoError(t, server.Close(t.Context()))
			sim.Run(m.Gone)
			server = serveAgain()
		}
		q.look()
	}

	sim.Net.Faults = housetest.Faults{}
	sim.Run(time.Minute)
	q.look()
	require.Empty(t, q.open, "asks are never answered")
	for i := range 10 {
		line := fmt.Sprintf("healed%d", i)
		rep, err := housetest.Ask(t, sim, callers[i%len(callers)], call{line: []byte(line)})
		require.NoError(t, err, "all is healed")
		require.Len(t, rep.text, len(line))
	}
	for line, n := range seen {
		require.Equal(t, 1, n, "%.60q came to the server several times", line)
	}
	for _, line := range q.unsent {
		require.Zero(t, seen[line], "%.60q wasn't sent, and came to the server", line)
	}
	require.NoError(t, client.Close(t.Context()))
	require.NoError(t, server.Drain(t.Context()))
	require.Zero(t, client.Stats().Conns)
	sim.Run(3 * time.Second)
	require.Zero(t, sim.Net.Open(), "descriptors are open")
	return run{hash: sim.Hash(), events: sim.Events(), now: sim.Now, served: q.n}
}

// config is the settings of a client with these limits.
func (l clientLimits) config() clientConfig {
	c := clientConfig{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineClient,
		Conns: l.Conns, InflightMax: l.InflightMax, PendingMax: l.PendingMax, ReadSize: l.ReadSize, OutputMax: l.OutputMax,
		IdleTimeout: l.IdleTimeout}
	if l.ConnectTimeout > 0 {
		c.ConnectTimeout = max(100*time.Millisecond, l.ConnectTimeout)
	}
	if l.ReplyTimeout > 0 {
		c.ReplyTimeout = max(200*time.Millisecond, l.ReplyTimeout)
	}
	return c
}

// TestClientSimulations: a client and its server over simulated networks by seeds, each of which is
// run twice and must do the same.
func TestClientSimulations(t *testing.T) { simulateClients(t, seeds()) }

func simulateClients(t *testing.T, n uint64) {
	ends, events := map[string]int{}, 0
	housetest.Simulate(t, n, drawClient, func(t testing.TB, p clientPlan) {
		r := simulateClient(t, p, ends)
		require.Equal(t, r, simulateClient(t, p, map[string]int{}), "the same plan does something else")
		events += r.events
	})
	t.Logf("%v, %d events", ends, events)
	for _, end := range []string{"replied", "not sent", "lost", "timeout", "overloaded"} {
		require.True(t, ends[end] > 0 || few(n), "no ask ended so: "+end)
	}
}
