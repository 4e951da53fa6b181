package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// lostAfter is how long a test waits for what must happen before it fails.
const lostAfter = 30 * time.Second

func TestMain(m *testing.M) {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close() // package net has opened what it keeps open
	}
	goleak.VerifyTestMain(m)
}

// world is a chat that is served until the end of the test.
type world struct {
	testing.TB
	*house.System
	*channel.Server[request, string]
}

func newWorld(t testing.TB, patience time.Duration) *world {
	sys, err := house.New(house.Config{Workers: 2, Logger: housetest.Log(t)})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
		defer cancel()
		require.NoError(t, sys.Shutdown(ctx))
		require.Zero(t, sys.Outstanding(), "pooled objects are still out")
	})
	return &world{t, sys, serve(t.Context(), sys, "127.0.0.1:0", patience, nil)}
}

// until returns when f does not return false any more.
func (w *world) until(f func() bool) {
	w.Helper()
	for began := time.Now(); !f(); runtime.Gosched() {
		require.Less(w, time.Since(began), lostAfter)
	}
}

// client is one connection of a test.
type client struct {
	testing.TB
	*net.TCPConn
	lines *bufio.Reader
	name  string
}

func (w *world) dial() *client {
	conn, err := net.Dial("tcp", w.Addr())
	require.NoError(w, err)
	w.Cleanup(func() { conn.Close() })
	require.NoError(w, conn.SetDeadline(time.Now().Add(lostAfter)))
	return &client{w, conn.(*net.TCPConn), bufio.NewReader(conn), conn.LocalAddr().String()}
}

func (c *client) say(text string) {
	c.Helper()
	_, err := io.WriteString(c, text+"\n")
	require.NoError(c, err)
}

func (c *client) line() string {
	c.Helper()
	line, err := c.lines.ReadString('\n')
	require.NoError(c, err)
	return strings.TrimSuffix(line, "\n")
}

// hears requires that the next line is what another one has said.
func (c *client) hears(other *client, text string) {
	c.Helper()
	require.Equal(c, other.name+": "+text, c.line())
}

// join brings clients into a room, in which nobody else is.
func join(room string, all ...*client) {
	for i, c := range all {
		c.say("/join " + room)
		for _, other := range all[:i+1] {
			other.hears(c, "/join")
		}
	}
}

// TestRooms: what is said in a room is heard there, in order, by whoever is there at that time.
func TestRooms(t *testing.T) {
	const comes = "ERR /join <room> comes first, and /leave before the next one"
	w := newWorld(t, time.Minute)
	a, b, c, d := w.dial(), w.dial(), w.dial(), w.dial()
	a.say("hello?")
	require.Equal(t, comes, a.line())
	a.say("/leave")
	require.Equal(t, comes, a.line())
	join("one", a, b, c)
	join("two", d)
	a.say("/join two")
	require.Equal(t, comes, a.line())
	a.say("/join")
	require.Equal(t, comes, a.line())
	a.say("first\nsecond\n\n/leaves")
	for _, x := range []*client{a, b, c} {
		for _, text := range []string{"first", "second", "", "/leaves"} {
			x.hears(a, text)
		}
	}
	b.say("/leave\nnobody hears that\n/join two\nhello")
	for _, x := range []*client{a, b, c} {
		x.hears(b, "/leave")
	}
	require.Equal(t, comes, b.line())
	for _, x := range []*client{b, d} {
		x.hears(b, "/join")
		x.hears(b, "hello")
	}
	c.say("/quit\nafterwards")
	require.Equal(t, "bye", c.line())
	_, err := c.lines.ReadByte()
	require.Equal(t, io.EOF, err)
	a.say("still there")
	a.hears(a, "still there")
	d.say("/leave\n/join a/b")
	b.hears(d, "/leave")
	d.hears(d, "/leave")
	require.Equal(t, `ERR stackhouse: the name "room.a/b" has a byte that names can't have`, d.line())
	d.say("/join \n" + strings.Repeat("x", 1001))
	require.Equal(t, `ERR core: an actor of the kind "room" needs a name`, d.line())
	require.Equal(t, "ERR frame: longer than the limit", d.line())
	_, err = d.lines.ReadByte()
	require.Equal(t, io.EOF, err)
}

// flood has a say something for as long as f is false, which a and b hear.
func (w *world) flood(a, b *client, f func() bool) {
	w.Helper()
	text := strings.Repeat("x", 900)
	for n := 0; !f(); n++ {
		a.say(fmt.Sprint(n, text))
		a.hears(a, fmt.Sprint(n, text))
		b.hears(a, fmt.Sprint(n, text))
	}
}

// TestSlowReader: who doesn't read loses lines, and the others hear all. Who reads again hears what
// is said then.
func TestSlowReader(t *testing.T) {
	w := newWorld(t, time.Minute)
	a, b, slow := w.dial(), w.dial(), w.dial()
	require.NoError(t, slow.SetReadBuffer(256<<10))
	join("room", a, b, slow)
	said, heard := 0, 0
	w.flood(a, b, func() bool { said++; return said > 8000 }) // 7 MB: more than kernels keep
	again := make(chan struct{})
	go func() {
		defer close(again)
		for n := -1; ; heard++ {
			line, err := slow.lines.ReadString('\n')
			if line, is := strings.CutPrefix(line, a.name+": "); err != nil || !is {
				t.Errorf("%q, %v", line, err)
				return
			} else if line == "again\n" {
				return
			} else if last := n; true {
				if fmt.Sscan(strings.Trim(line, "x\n"), &n); n <= last {
					t.Errorf("%d behind %d", n, last)
				}
			}
		}
	}()
	for over := false; !over; {
		a.say("again")
		a.hears(a, "again")
		b.hears(a, "again")
		select {
		case <-again:
			over = true
		default:
		}
	}
	require.Greater(t, heard, 100)
	require.Less(t, heard, 8000, "it has heard all: was it slow?")
}

// TestNoReader: who doesn't read for long loses the connection.
func TestNoReader(t *testing.T) {
	w := newWorld(t, time.Second/2)
	a, b, slow := w.dial(), w.dial(), w.dial()
	require.NoError(t, slow.SetReadBuffer(4096))
	join("room", a, b, slow)
	w.flood(a, b, func() bool { return w.Server.Stats().WriteTimeouts > 0 })
	w.until(func() bool { return w.Server.Stats().Conns == 2 })
	before := w.Server.Stats().Dropped
	for range 3 {
		a.say("one more")
		a.hears(a, "one more")
		b.hears(a, "one more")
	}
	require.LessOrEqual(t, w.Server.Stats().Dropped, before+1, "the room sends it one line more at most")
}

// TestGone: members that have gone are dropped, each after one line at most.
func TestGone(t *testing.T) {
	const each = 10
	w := newWorld(t, time.Minute)
	a := w.dial()
	join("room", a)
	for range each {
		b := w.dial()
		b.say("/join room")
		a.hears(b, "/join")
		b.hears(b, "/join")
		b.Close()
	}
	w.until(func() bool { return w.Server.Stats().Conns == 1 })
	for range 3 {
		a.say("who is there?")
		a.hears(a, "who is there?")
	}
	require.LessOrEqual(t, w.Server.Stats().Dropped, uint64(each))
	_, err := core.Lookup[room](w.System, "/user/room.room")
	require.NoError(t, err)
}
