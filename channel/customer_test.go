package channel_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// asked is a request in a plan.
type asked struct {
	Do string // "", "after", "throw", "big", "long", "part", "parts", "tell", "watch", "last"
	N  int    // milliseconds, or bytes
}

// lines returns the request, which is the i-th of its connection, and its result.
func (a asked) lines(i int) (request, result string) {
	switch a.Do {
	case "after":
		return fmt.Sprintf("after %d late%d", a.N, i), fmt.Sprintf("late%d", i)
	case "throw":
		return fmt.Sprintf("throw error%d", i), fmt.Sprintf("-error%d", i)
	case "big":
		return fmt.Sprintf("big %d", a.N), letters(a.N)
	case "part":
		return fmt.Sprintf("part p%d|after %d late%d", i, a.N, i), fmt.Sprintf("p%d\nlate%d", i, i)
	case "parts":
		return fmt.Sprintf("parts 3 %d", a.N), strings.Repeat(letters(a.N)+"\n", 2) + letters(a.N)
	case "tell":
		return fmt.Sprintf("tell %d %d", a.N, i), fmt.Sprintf("tell %d %d", a.N, i)
	case "watch":
		return "watch", "watch"
	case "long":
		line := fmt.Sprintf("x%d%s", i, strings.Repeat("long", a.N/4))
		return line, line
	case "last":
		return "last goodbye", "goodbye"
	}
	return fmt.Sprintf("x%d", i), fmt.Sprintf("x%d", i)
}

// letters is what the front answers to big n.
func letters(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	return string(text)
}

// customerPlan is what a customer does in a run.
type customerPlan struct {
	Asks []asked
	At   int  // the moment at which it dials
	Deaf bool // it reads nothing before all is healed
	Half int  // it ends its side after so many bytes; 0: after all that it asks
	Away int  // in one of so many moments it gives up; 0: never
	ID   int  `shrink:"-"` // decides what is left to chance
}

// rules is what a server may do to its customers in a run.
type rules struct {
	breaks  bool // connections may break
	idle    bool // connections that wait for nothing may end
	crowded bool // connections may be refused, in as many words as the socket takes at once
	refuses []string
}

// customer is a client in a simulation. What it gets back must be, byte by byte, the results of
// what it has asked for, but for messages that it is told.
type customer struct {
	customerPlan
	rules *rules
	rng   *rand.Rand
	peer  *housetest.Peer // nil: it hasn't dialled
	sends []byte          // not sent yet
	wants []byte          // the results of all that it asks for
	got   int             // bytes of wants
	said  []byte          // what came in place of a result
	gone  bool            // it has given up, or the connection broke
	ended bool            // it has ended its side
	lasts bool            // its last request is the connection's last
	amid  bool            // what came last is no end of a line
	tells bool            // that line is a message
	how   string          // how it was over; "": the server hasn't ended it
}

func newCustomer(seed uint64, p customerPlan, r *rules) *customer {
	c := &customer{customerPlan: p, rules: r, rng: rand.New(rand.NewPCG(seed, uint64(100+p.ID)))}
	half := p.Half
	if half == 0 {
		half = 1 << 30
	}
	for i, a := range p.Asks {
		request, result := a.lines(i)
		if room := half - len(c.sends); len(request)+1 > room {
			c.sends = append(c.sends, request[:min(room, len(request))]...)
			break
		}
		c.sends = append(append(c.sends, request...), '\n')
		c.wants = append(append(c.wants, result...), '\n')
		if c.lasts = a.Do == "last"; c.lasts {
			break
		}
	}
	return c
}

// waits reports whether something is still to happen to the customer.
func (c *customer) waits() bool { return !c.gone && (len(c.sends) > 0 || c.got < len(c.wants)) }

// act does something, or nothing. Once all is healed it does what it can.
func (c *customer) act(t testing.TB, healed bool) {
	if c.gone || c.peer == nil {
		return
	}
	if !healed && c.Away > 0 && c.rng.IntN(c.Away) == 0 {
		c.gone, c.how = true, "gave up"
		if c.rng.IntN(2) == 0 {
			c.peer.Reset()
		} else {
			c.peer.Close()
		}
		return
	}
	c.send(healed)
	if healed || !c.Deaf && c.rng.IntN(2) == 0 {
		most := 1 << 20
		if !healed {
			most = 1 + c.rng.IntN(1<<c.rng.IntN(16))
		}
		c.hear(t, c.peer.Read(most))
	}
	if err := c.peer.Err(); err != nil {
		c.over(t, err)
	}
}

// send sends some of what is left, and ends the customer's side behind it.
func (c *customer) send(healed bool) {
	if n := len(c.sends); n > 0 && (healed || c.rng.IntN(2) == 0) {
		if !healed {
			n = min(n, 1+c.rng.IntN(1<<c.rng.IntN(16)))
		}
		c.sends = c.sends[c.peer.Write(c.sends[:n]):]
	}
	if len(c.sends) == 0 && c.peer.Connected() && !c.ended && (c.Half > 0 || c.rng.IntN(4) == 0) {
		c.ended = true
		c.peer.End()
	}
}

// results returns b without messages, which are lines that begin with ~.
func (c *customer) results(b []byte) (rest []byte) {
	for _, x := range b {
		c.tells = x == '~' && !c.amid || c.tells && c.amid
		if c.amid = x != '\n'; !c.tells {
			rest = append(rest, x)
		}
	}
	return rest
}

// hear compares what came with what must come.
func (c *customer) hear(t testing.TB, b []byte) {
	b = c.results(b)
	if len(c.said) == 0 {
		n := 0
		for n < len(b) && c.got < len(c.wants) && b[n] == c.wants[c.got] {
			n, c.got = n+1, c.got+1
		}
		b = b[n:]
	}
	if len(b) == 0 {
		return
	}
	c.said = append(c.said, b...)
	require.True(t, c.atResult() && c.mayHear(string(c.said)), "customer %d: %.100q comes in place of %.100q", c.ID, c.said, c.wants[c.got:])
}

// atResult reports whether the next byte is a result's first.
func (c *customer) atResult() bool { return c.got == 0 || c.wants[c.got-1] == '\n' }

func (c *customer) mayHear(said string) bool {
	for _, text := range c.rules.refuses {
		if strings.HasPrefix(text, said) {
			return true
		}
	}
	return false
}

// over looks why the connection is over.
func (c *customer) over(t testing.TB, err error) {
	c.gone = true
	switch {
	case err != io.EOF:
		c.how = "broken"
		require.True(t, c.rules.breaks, "customer %d: the connection breaks: %v", c.ID, err)
	case len(c.said) > 0:
		if c.how = string(c.said); !slices.Contains(c.rules.refuses, c.how) {
			c.how = "refused in part"
			require.True(t, c.rules.crowded && c.got == 0, "customer %d: the server says no more than %q", c.ID, c.said)
		}
	case c.got == len(c.wants) && (c.ended || c.lasts):
		c.how = "in order"
	case c.got == 0 && c.rules.crowded:
		c.how = "refused silently"
	default:
		c.how = "idle"
		require.True(t, c.rules.idle, "customer %d: the server ends before all results are sent: %d of %d bytes", c.ID, c.got, len(c.wants))
		require.True(t, c.atResult(), "customer %d: the server ends amid a result", c.ID)
	}
}

// refusal is what a refused client of lineCodec reads.
func refusal(err error) string {
	c := &lineCodec{}
	return string(bytes.Clone(c.Refuse(nil, err)))
}

// rulesOf returns what a plan allows the server.
func rulesOf(p *serverPlan) *rules {
	l := &p.Limits
	r := &rules{
		breaks:  p.Faults.Resets > 0 || l.ConnsMax > 0 || l.IdleTimeout > 0 || l.RequestTimeout > 0,
		idle:    l.IdleTimeout > 0,
		crowded: l.ConnsMax > 0,
	}
	if l.ConnsMax > 0 {
		r.refuses = append(r.refuses, refusal(channel.ErrConnsMax))
	}
	if l.RequestTimeout > 0 {
		r.refuses = append(r.refuses, refusal(channel.ErrSlowRequest))
	}
	return r
}
