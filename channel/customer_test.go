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
	Do string // "", "after", "throw", "big", "long", "part", "parts", "solo", "tell", "watch", "last"
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
	case "solo":
		return fmt.Sprintf("solo after %d solo%d", a.N, i), fmt.Sprintf("solo%d", i)
	case "last":
		return "last goodbye", "goodbye"
	}
	return fmt.Sprintf("x%d", i), fmt.Sprintf("x%d", i)
}

// numbered puts a number before each line of a text.
func numbered(i int, text string) string {
	n := fmt.Sprint(i, " ")
	return n + strings.ReplaceAll(text, "\n", "\n"+n)
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
	numbers bool // results go by number
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
	slips *slips          // what it wants by number; nil: in order
	how   string          // how it was over; "": the server hasn't ended it
}

func newCustomer(seed uint64, p customerPlan, r *rules) *customer {
	c := &customer{customerPlan: p, rules: r, rng: rand.New(rand.NewPCG(seed, uint64(100+p.ID)))}
	if r.numbers {
		c.slips = &slips{open: map[int]string{}}
	}
	half := p.Half
	if half == 0 {
		half = 1 << 30
	}
	for i, a := range p.Asks {
		request, result := a.lines(i)
		if c.slips != nil {
			request, result = numbered(i, request), numbered(i, result)
		}
		if room := half - len(c.sends); len(request)+1 > room {
			c.sends = append(c.sends, request[:min(room, len(request))]...)
			break
		}
		c.sends = append(append(c.sends, request...), '\n')
		c.wants = append(append(c.wants, result...), '\n')
		if c.slips != nil {
			c.slips.open[i], c.slips.youngest = result+"\n", i
		}
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

// results returns b without messages, which are lines that begin with ~, or * where results are by
// number.
func (c *customer) results(b []byte) (rest []byte) {
	mark := byte('~')
	if c.slips != nil {
		mark = '*'
	}
	for _, x := range b {
		c.tells = x == mark && !c.amid || c.tells && c.amid
		if c.amid = x != '\n'; !c.tells {
			rest = append(rest, x)
		}
	}
	return rest
}

// hear compares what came with what must come.
func (c *customer) hear(t testing.TB, b []byte) {
	b = c.results(b)
	switch {
	case len(c.said) > 0:
	case c.slips != nil:
		b = c.hearNumbers(t, b)
	default:
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

// slips is what a customer wants of a server whose results go by number.
type slips struct {
	open     map[int]string // what is left of the result of each request
	now      string         // how the rest of a result begins of which a part has come; ""
	line     []byte         // of which the end is missing
	youngest int
	overtook int // results that have come before earlier ones
}

// hearNumbers takes lines of results, and returns what isn't one.
func (c *customer) hearNumbers(t testing.TB, b []byte) []byte {
	s := c.slips
	for len(b) > 0 && (len(s.line) > 0 || '0' <= b[0] && b[0] <= '9') {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		s.line, b = append(s.line, line...), rest
		if ended {
			c.got += s.take(t, c.ID)
		}
	}
	return b
}

// take takes the line, and returns how long it is.
func (s *slips) take(t testing.TB, customer int) int {
	line := string(s.line) + "\n"
	s.line = s.line[:0]
	n, _ := number([]byte(line))
	want, open := s.open[n]
	require.True(t, open && strings.HasPrefix(want, line) && strings.HasPrefix(line, s.now), "customer %d: %.100q comes in place of %.100q, behind a part of %q", customer, line, want, s.now)
	for other := range s.open {
		if other < n {
			s.overtook++
			break
		}
	}
	if s.open[n], s.now = want[len(line):], fmt.Sprint(n, " "); s.open[n] == "" {
		delete(s.open, n)
		s.now = ""
	}
	return len(line)
}

// atResult reports whether the next byte is a result's first.
func (c *customer) atResult() bool {
	if c.slips != nil {
		return len(c.slips.line) == 0
	}
	return c.got == 0 || c.wants[c.got-1] == '\n'
}

// hasLast reports whether it has got all that comes before a connection's last result, and that.
func (c *customer) hasLast() bool {
	if c.slips == nil || !c.lasts {
		return c.lasts && c.got == len(c.wants)
	}
	_, open := c.slips.open[c.slips.youngest]
	return !open // what else is open was cancelled
}

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
	case c.got == len(c.wants) && c.ended || c.hasLast():
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
		numbers: p.Unordered,
	}
	if l.ConnsMax > 0 {
		r.refuses = append(r.refuses, refusal(channel.ErrConnsMax))
	}
	if l.RequestTimeout > 0 {
		r.refuses = append(r.refuses, refusal(channel.ErrSlowRequest))
	}
	return r
}
