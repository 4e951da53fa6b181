package sent_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/sent"
	"github.com/stackhouse-go/stackhouse/internal/script"
)

// TestScripts plays what testdata tells of a client's requests on one connection. Below each line
// is what came of it. The lines:
//
//	limit N           of requests in flight, before all else
//	send NAME...      requests, as many as may go now; the others stay outside
//	alone NAME        a request that must go alone
//	give up NAME      its asker waits no more
//	time              a second passes
//	late              says how long the oldest has been in flight
//	reply             comes, to the oldest
//	reply to N        names its request by its number
//	close N           the connection breaks, N bytes of which the system has taken
//
// A request has as many bytes as its name. The connection's stream is that of their names.
func TestScripts(t *testing.T) {
	script.Files(t, "testdata/*.txt", func(t *testing.T) func(string) string {
		return (&conversation{t: t, requests: sent.Make[string](10)}).play
	})
}

// conversation is what a client does.
type conversation struct {
	t        *testing.T
	requests sent.Requests[string]
	encoded  uint64
	now      int64
	gone     []string // whose askers wait no more
}

func (c *conversation) play(line string) string {
	f := strings.Fields(line)
	switch f[0] {
	case "limit":
		c.requests = sent.Make[string](c.number(line, f[1]))
		return ""
	case "send":
		var all []string
		for _, name := range f[1:] {
			all = append(all, c.send(name, false))
		}
		return strings.Join(all, "\n")
	case "alone":
		return c.send(f[1], true)
	case "give":
		c.gone = append(c.gone, f[2])
		return ""
	case "time":
		c.now++
		return ""
	case "late":
		name, since, ok := c.requests.Oldest()
		if !ok {
			return "nothing is in flight"
		}
		return fmt.Sprintf("%s is in flight for %d s", name, c.now-since)
	case "reply":
		if len(f) == 1 {
			name, _, ok := c.requests.Take()
			return c.answered(name, ok)
		}
		name, _, ok := c.requests.TakeID(uint64(c.number(line, f[2])))
		return c.answered(name, ok)
	case "close":
		taken := uint64(c.number(line, f[1]))
		var all []string
		for name, at, ok := c.requests.Take(); ok; name, at, ok = c.requests.Take() {
			what := "is lost"
			if at >= taken {
				what = "was not sent"
			}
			all = append(all, name+" "+what)
		}
		return strings.Join(all, "\n")
	}
	require.Fail(c.t, "a script has the line "+line)
	return ""
}

func (c *conversation) send(name string, alone bool) string {
	if !c.requests.Admits(alone) {
		return name + " waits outside"
	}
	number := c.requests.Add(name, c.encoded, c.now, alone)
	c.encoded += uint64(len(name))
	return fmt.Sprintf("%s is number %d", name, number)
}

func (c *conversation) answered(name string, ok bool) string {
	switch i := slices.Index(c.gone, name); {
	case !ok:
		return "nobody has asked for it: the connection ends"
	case i >= 0:
		c.gone = slices.Delete(c.gone, i, i+1)
		return "dropped: nobody waits for " + name
	}
	return name + " is answered"
}

func (c *conversation) number(line, text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(c.t, err, line)
	return n
}
