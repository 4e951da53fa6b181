package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// encoded is commands as a client sends them, one a line.
func encoded(lines ...string) (text []byte) {
	for _, line := range lines {
		text = resp.AppendCommand(text, strings.Fields(line)...)
	}
	return text
}

// widen has the pipelines of a new connection be as wide as any.
func (c *client) widen() {
	for w := width(1); w < pipelineMax; w *= 2 {
		c.do("GET", "none")
	}
}

// TestWhatIsAPipeline: how many commands each request has.
func TestWhatIsAPipeline(t *testing.T) {
	long := "SET k " + strings.Repeat("x", pipelineBytes/2)
	several := func(n int, line string) []string { return strings.Split(strings.Repeat(line+";", n-1)+line, ";") }
	for _, c := range []struct {
		in   []byte
		want []int
	}{
		{encoded("GET a"), []int{1}},
		{encoded("GET a", "SET b 1"), []int{2}},
		{encoded("HSET a f 1", "hget a f", "DEL a", "EXPIRE a 1", "SET b 1 NX EX 7"), []int{5}},
		{encoded(several(pipelineMax, "INCR a")...), []int{pipelineMax}},
		{encoded(several(2*pipelineMax+1, "INCR a")...), []int{pipelineMax, pipelineMax, 1}},

		// Others stand alone.
		{encoded("PING", "GET a", "GET b", "PING", "GET a", "PING"), []int{1, 2, 1, 1, 1}},
		{encoded("GET a", "DEL a b", "GET a", "GET b", "MGET a", "GET a", "GET a"), []int{1, 1, 2, 1, 2}},
		{encoded("GET a", "GET a", "GET", "GET a", "NOSUCH a", "GET a", "SET a"), []int{2, 1, 1, 1, 1, 1}},
		{encoded("GET a", "GET a", "RENAME a b", "OBJECT ENCODING a", "DBSIZE", "AUTH x", "GET a", "GET a"), []int{2, 1, 1, 1, 1, 2}},
		{encoded(long, "GET a", long, "GET a", long), []int{2, 2, 1}},
		{encoded(long+long, "GET a", "GET a"), []int{1, 2}},
		{encoded(setOfBytes(pipelineBytes), "GET a", "GET a"), []int{1, 2}},
		{encoded(setOfBytes(pipelineBytes-len(encoded("GET a"))), "GET a", "GET a"), []int{2, 1}},
		{encoded(setOfBytes(pipelineBytes+1), "GET a", "GET a"), []int{1, 2}},
		{encoded(setOfBytes(pipelineBytes+1-len(encoded("GET a"))), "GET a", "GET a"), []int{1, 2}},

		// In other spelling, and with ends missing.
		{[]byte("GET a\r\n  set b \"1\\n2\"  \nGET 'c'\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n"), []int{4}},
		{[]byte("GET a\r\nGET b\r\n\r\nGET c\r\n*0\r\nGET d\r\nGET e\r\n"), []int{2, 0, 1, 0, 2}},
		{append(encoded("GET a", "GET b"), "*2\r\n$3\r\nGET\r\n$1\r\n"...), []int{2, -1}},
		{append(encoded("GET a", "GET b"), "*2\r\n$x\r\n"...), []int{2, -2}},
		{append(encoded("GET a"), "*2\r\n$x\r\n"...), []int{1, -2}},
		{append(encoded("GET a", "GET b"), "POST / HTTP/1.1\r\nGET a\r\n"...), []int{2, -2}},
	} {
		codec := &codec{decoder: resp.NewDecoder(resp.Limits{}), session: session{id: 1, width: pipelineMax}, stores: &stores{ports: make([]core.Port[request, resp.Reply], 2)}}
		var got []int
		for in := c.in; len(in) > 0; {
			var req inbound
			n, err := codec.Decode(in, &req)
			switch {
			case err == channel.ErrSkip:
				got = append(got, 0)
			case err != nil:
				got, n = append(got, -2), len(in)
			case n == 0:
				got, n = append(got, -1), len(in)
			default:
				got = append(got, max(1, req.pipeline.n))
			}
			if req.pipeline.n > 0 {
				require.Equal(t, string(in[:n]), string(req.bytes))
				from := 0
				for _, at := range req.pipeline.places[:req.pipeline.n] {
					cmd := decodedAlone(t, in[from:at.end])
					require.Equal(t, lookup(cmd.Arg(0)), &commands[at.entry])
					require.Equal(t, codec.stores.of(cmd.Arg(1)), int(at.store))
					from = int(at.end)
				}
				require.Equal(t, n, from)
			}
			in = in[n:]
		}
		require.Equal(t, c.want, got, "%.80q", c.in)
	}
}

// setOfBytes is a SET that takes n bytes, at least 10,000, as it is sent.
func setOfBytes(n int) string {
	const digits = 10_000
	return "SET k " + strings.Repeat("x", n-len(encoded("SET k "+strings.Repeat("x", digits)))+digits)
}

func decodedAlone(t *testing.T, in []byte) (cmd resp.Command) {
	t.Helper()
	decoder := resp.NewDecoder(resp.Limits{})
	n, err := decoder.Decode(in, &cmd)
	require.NoError(t, err)
	require.Equal(t, len(in), n)
	return cmd
}

// TestRepliesOfAPipeline: what a command replies doesn't change when the next ones change the
// key, and long ones come whole.
func TestRepliesOfAPipeline(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		c.widen()
		for range 3 {
			c.answers([][2]string{
				{"SET a first", "+OK"}, {"GET a", "$5 first"}, {"SET a SECOND", "+OK"}, {"GET a", "$6 SECOND"},
				{"SET a third GET", "$6 SECOND"}, {"GETSET a fourth", "$5 third"}, {"GETRANGE a 1 3", "$3 our"},
				{"SETRANGE a 1 x", ":6"}, {"GETDEL a", "$6 fxurth"}, {"GET a", "$-1"},
				{"HSET h f one", ":1"}, {"HGET h f", "$3 one"}, {"HSET h f two", ":0"}, {"HGET h f", "$3 two"},
				{"GETEX b EX 100", "$-1"}, {"DEL h", ":1"},
			}...)
		}
		long := strings.Repeat("y", 3*scratchMax)
		require.Equal(t, "+OK", c.do("SET", "long", long))
		c.send(encoded("GET long", "STRLEN long", "GET other", "GET long", "GET long"))
		want := fmt.Sprintf("$%d %s", len(long), long)
		for _, want := range []string{want, fmt.Sprint(":", len(long)), "$-1", want, want} {
			if got := c.reply(); got != want {
				t.Fatalf("%.40q of %d bytes, want %.40q of %d", got, len(got), want, len(want))
			}
		}
	})
}

// TestStoreFailsInAPipeline: the commands of its share get an error, each one; those of the other
// store aren't touched.
func TestStoreFailsInAPipeline(t *testing.T) {
	e := lookup([]byte("strlen"))
	do := e.do
	e.do = func(*store, *storeStack) resp.Reply { panic("planted") }
	t.Cleanup(func() { e.do = do })
	w := openWorld(t, 2, options{})
	c := w.dial()
	c.widen()
	var one, other string
	for i := 0; one == "" || other == ""; i++ {
		if key := fmt.Sprint("k", i); w.cluster.of([]byte(key)) == 0 {
			one = key
		} else {
			other = key
		}
	}
	const failed = "-ERR internal error"
	for range 2 {
		c.answers([][2]string{
			{"SET " + one + " 1", failed}, {"SET " + other + " 1", "+OK"}, {"STRLEN " + one, failed}, {"GET " + other, "$1 1"}, {"GET " + one, failed},
		}...)
		require.Equal(t, "+OK", c.do("SET", one, "2"))
		require.Equal(t, "$1 2", c.do("GET", one))
	}
}

// TestPipelineOfAStranger: none of its commands is done before the password came.
func TestPipelineOfAStranger(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{password: "secret"}).dial()
		const noAuth = "-NOAUTH Authentication required."
		c.answers([][2]string{
			{"SET a 1", noAuth}, {"GET a", noAuth}, {"SET b 1", noAuth},
			{"AUTH secret", "+OK"},
			{"GET a", "$-1"}, {"GET b", "$-1"}, {"SET a 2", "+OK"},
			{"RESET", "+RESET"},
			{"GET a", noAuth}, {"DEL a", noAuth},
		}...)
	})
}

// TestMutedPipelines: what is done without an answer is done all the same.
func TestMutedPipelines(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		c.widen()
		c.send(encoded("CLIENT REPLY OFF", "INCR a", "INCR b", "INCR a", "CLIENT REPLY ON", "GET a", "GET b",
			"CLIENT REPLY SKIP", "INCR a", "INCR b", "GET a", "INCR a", "INCR b"))
		for _, want := range []string{"+OK", "$1 2", "$1 1", ":2", "$1 3", ":4", ":3"} {
			require.Equal(t, want, c.reply())
		}
		c.answers([2]string{"GET a", "$1 4"}, [2]string{"GET b", "$1 3"})
	})
}

// openFragile is a world of one worker in which ECHO off takes the stores away from the front, and
// ECHO on gives them back.
func openFragile(t *testing.T) *world {
	e := lookup([]byte("echo"))
	run := e.run
	e.run = func(f *front, s *command) core.Yield {
		f.stores = map[string]*stores{"on": f.service.cluster}[string(s.Req.Arg(1))]
		return s.answer(resp.OK())
	}
	t.Cleanup(func() { e.run = run })
	return openWorld(t, 1, options{})
}

// TestFrontFailsInAPipeline: each command gets an error, so that replies and commands stay in
// step.
func TestFrontFailsInAPipeline(t *testing.T) {
	w := openFragile(t)
	c := w.dial()
	c.widen()
	require.Equal(t, "+OK", c.do("ECHO", "off"))
	c.send(encoded("PING", "GET a", "GET b", "GET c", "ECHO on", "GET a", "GET b"))
	for _, want := range []string{"+PONG", "-ERR internal error", "-ERR internal error", "-ERR internal error", "+OK", "$-1", "$-1"} {
		require.Equal(t, want, c.reply())
	}
}

// TestOrderBehindRepliesThatAreLongTogether: behind several whose replies are long together a store
// puts off the next pipeline, as it does with the rest of theirs.
func TestOrderBehindRepliesThatAreLongTogether(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		a := strings.Repeat("a", longReplies*3/4)
		require.Equal(t, "+OK", c.do("SET", "a", a))
		for range 20 {
			c.widen()
			require.Equal(t, "+OK", c.do("SET", "k", "old"))
			var exchanges [][2]string
			for range 2 {
				exchanges = append(exchanges, [2]string{"GET a", fmt.Sprintf("$%d %s", len(a), a)})
			}
			for range pipelineMax - 2 {
				exchanges = append(exchanges, [2]string{"GET k", "$3 old"})
			}
			c.answers(append(exchanges, [2]string{"SET k new", "+OK"}, [2]string{"GET k", "$3 new"})...)
		}
	})
}

// TestOrderOfLongRepliesOfSeveralStores: one whose replies wait for another's isn't asked for
// more.
func TestOrderOfLongRepliesOfSeveralStores(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		const keys = 9
		var gets [keys][2]string
		for i := range gets {
			value := strings.Repeat(strconv.Itoa(i), longReplies+1+i)
			require.Equal(t, "+OK", c.do("SET", fmt.Sprint("k", i), value))
			gets[i] = [2]string{fmt.Sprint("GET k", i), fmt.Sprintf("$%d %s", len(value), value)}
		}
		for range 10 {
			c.widen()
			var all [][2]string
			for range pipelineMax {
				all = append(all, gets[rand.IntN(keys)])
			}
			c.answers(all...)
		}
	})
}

// TestPutOffHashes: what a store has put off is a walk then, if the replies were long.
func TestPutOffHashes(t *testing.T) {
	e := lookup([]byte("hgetall"))
	do := e.do
	t.Cleanup(func() { e.do = do })
	var atOnce atomic.Int32
	e.do = func(t *store, s *storeStack) resp.Reply {
		atOnce.Add(1)
		return do(t, s)
	}
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		a := strings.Repeat("a", longReplies+1)
		require.Equal(t, "+OK", c.do("SET", "a", a))
		require.Equal(t, ":1", c.do("HSET", "{a}", "f", "v"))
		for range 20 {
			c.widen()
			atOnce.Store(0)
			c.answers([][2]string{{"GET a", fmt.Sprintf("$%d %s", len(a), a)}, {"PING", "+PONG"}, {"HGETALL {a}", "*2 $1 f $1 v"}, {"PING", "+PONG"}}...)
			if workers == 1 { // or it may be another store's
				require.Zero(t, atOnce.Load())
			}
		}
	})
}

// TestLostLongReply: what a store has put off is done, though nobody has heard of the long reply.
func TestLostLongReply(t *testing.T) {
	e := lookup([]byte("strlen"))
	do := e.do
	e.do = func(t *store, s *storeStack) resp.Reply {
		t.cut(&s.Req, longReplies+1)
		panic("planted")
	}
	t.Cleanup(func() { e.do = do })
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		const failed = "-ERR internal error"
		for range 2 {
			c := w.dial()
			c.answers([][2]string{{"STRLEN a", failed}, {"SET a 1", "+OK"}, {"PING", "+PONG"}, {"GET a", "$1 1"}, {"DEL a b c", ":1"}}...)
			c.answers([][2]string{{"STRLEN a", failed}, {"MSET a 1 b 2 c 3 d 4", "+OK"}, {"STRLEN a", failed}, {"MSETNX e 1 a 1 b 1", ":0"},
				{"STRLEN a", failed}, {"RENAMENX a b", ":0"}, {"STRLEN a", failed}, {"RENAME a x", "+OK"}, {"STRLEN a", failed},
				{"RENAMENX x a", ":1"}, {"STRLEN a", failed}, {"MGET a b c d e x", "*6 $1 1 $1 2 $1 3 $1 4 $-1 $-1"}, {"FLUSHALL", "+OK"}}...)
			c = w.dial()
			c.widen()
			c.answers([][2]string{{"STRLEN a", failed}, {"GET a", failed}, {"PING", "+PONG"}, {"SET a 1", "+OK"}, {"DEL a", ":1"}}...)
		}
	})
}

// TestFrontFailsBehindAPart: the commands that have no reply yet get an error, each one.
func TestFrontFailsBehindAPart(t *testing.T) {
	w := openFragile(t)
	c, other := w.dial(), w.dial()
	c.widen()
	long := strings.Repeat("x", 1<<20)
	require.Equal(t, "+OK", other.do("SET", "long", long))
	const n = 4 * pipelineMax // the system doesn't take as much
	c.send(encoded(strings.Split(strings.Repeat("GET long;", n-1)+"GET long", ";")...))
	var first [1]byte
	_, err := c.Read(first[:])
	require.NoError(t, err)
	c.in = first[:]
	require.Equal(t, "+OK", other.do("ECHO", "off"))
	failed := 0
	for range n {
		reply, err := c.next()
		require.NoError(t, err)
		if string(reply) == "-ERR internal error\r\n" {
			failed++
		} else {
			require.Zero(t, failed)
			require.Len(t, reply, len("$1048576\r\n\r\n")+len(long))
		}
	}
	require.NotZero(t, failed)
	require.Equal(t, "+OK", other.do("ECHO", "on"))
	require.Equal(t, "+PONG", c.do("PING"))
}

// TestWidth: long replies make the pipelines of a connection shorter, and short ones longer.
func TestWidth(t *testing.T) {
	w := width(pipelineMax)
	for _, c := range []struct {
		size int
		want width
	}{
		{4*shortReplies + 1, 8}, {4 * shortReplies, 8}, {shortReplies, 8}, {longReplies, 4}, {longReplies + 1, 1}, {1 << 30, 1},
		{shortReplies, 1}, {shortReplies - 1, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 16},
	} {
		w.adapt(c.size)
		require.Equal(t, c.want, w, c.size)
	}
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		long := strings.Repeat("z", 10_000)
		want := fmt.Sprintf("$%d %s", len(long), long)
		require.Equal(t, "+OK", c.do("SET", "long", long))
		for range 10 { // whatever the width is
			c.send(encoded(strings.Split(strings.Repeat("GET long;", 40)+"GET none", ";")...))
			for range 40 {
				require.Equal(t, want, c.reply())
			}
			require.Equal(t, "$-1", c.reply())
		}
	})
}

// TestUnreadReplies: whoever sends many requests and reads nothing has one long reply of each
// store in memory, and what is unsent, whatever its replies were like before; and others are
// served.
func TestUnreadReplies(t *testing.T) {
	for _, wide := range []bool{false, true} {
		t.Run(fmt.Sprint("wide=", wide), func(t *testing.T) { unreadReplies(t, wide) })
	}
}

func unreadReplies(t *testing.T, wide bool) {
	const (
		conns = 4
		depth = 32
		size  = 1 << 20
		keys  = 16
	)
	w := openWorld(t, 2, options{})
	other := w.dial()
	var gets []string
	for i := range depth {
		key := fmt.Sprint("long", i%keys)
		gets = append(gets, "GET "+key)
		if i < keys {
			require.Equal(t, "+OK", other.do("SET", key, strings.Repeat("z", size)))
		}
	}
	before := heap()
	var silent []*client
	for range conns {
		c := w.dial()
		if wide {
			c.widen()
		}
		c.send(encoded(gets...))
		silent = append(silent, c)
	}
	var first [1]byte
	for _, c := range silent { // once its first reply is there, what began with it mostly is, too
		_, err := c.Read(first[:])
		require.NoError(t, err)
	}
	for range 100 {
		require.Equal(t, "+OK", other.do("SET", "k", "v"))
	}
	// Of each: a reply of each store, their part of the result, that encoded, and what a store has
	// of the next one.
	require.Less(t, heap()-before, int64(conns*(2+2+2+2)*size))
	want := fmt.Sprintf("$%d\r\n%s\r\n", size, strings.Repeat("z", size))
	reply := make([]byte, len(want))
	for _, c := range silent {
		for at, i := 1, 0; i < depth; at, i = 0, i+1 {
			_, err := io.ReadFull(c, reply[at:])
			require.NoError(t, err)
			require.True(t, string(reply[at:]) == want[at:])
		}
	}
}

// heap returns the bytes of what is in use.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
