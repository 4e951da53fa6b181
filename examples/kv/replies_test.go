package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// exchange is a command of the script and its reply.
type exchange struct {
	line  int
	words []string
	reply string
}

// script reads a file of testdata.
func script(t *testing.T, file string) (all []exchange) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var words []string
	for i, line := range strings.Split(string(text), "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		switch mark {
		case ">":
			words = split(t, rest)
		case "<", "=":
			if strings.HasPrefix(rest, `"`) {
				rest, err = strconv.Unquote(rest)
				require.NoError(t, err, "line %d", i+1)
			}
			all = append(all, exchange{i + 1, words, rest})
		case "#", "":
		default:
			t.Fatalf("line %d begins with %q", i+1, mark)
		}
	}
	require.NotEmpty(t, all)
	return all
}

// split cuts a line into words and quoted words.
func split(t *testing.T, line string) (words []string) {
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		word, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, `"`) {
			quoted, err := strconv.QuotedPrefix(line)
			require.NoError(t, err, line)
			word = quoted
		}
		line = line[len(word):]
		if strings.HasPrefix(word, `"`) {
			word, _ = strconv.Unquote(word)
		}
		words = append(words, word)
	}
	return words
}

// TestG23Replies: one by one, and all in one pipeline, whose replies come as if the
// commands had been sent one by one.
func TestG23Replies(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 5)
	each(t, func(t *testing.T, workers int) {
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) { converse(t, workers, script(t, file)) })
		}
	})
}

func converse(t *testing.T, workers int, all []exchange) {
	c := openWorld(t, workers, virtual()).dial()
	for range 2 {
		var text []byte
		for _, x := range all {
			require.Equal(t, x.reply, c.do(x.words...), "line %d: %q", x.line, x.words)
			text = resp.AppendCommand(text, x.words...)
		}
		c.do("FLUSHALL")
		c.send(text)
		for _, x := range all {
			require.Equal(t, x.reply, c.reply(), "line %d: %q, in a pipeline", x.line, x.words)
		}
		c.do("FLUSHALL")
	}
}

// TestRepliesToInline: words typed by hand, with quotes.
func TestRepliesToInline(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		for _, x := range []struct{ line, reply string }{
			{`PING`, "+PONG"},
			{"\r\n\n  \t ping  hello \t", "$5 hello"},
			{`SET "a key" "a\r\n\x41\"value\""`, "+OK"},
			{`GET 'a key'`, "$11 a A\"value\""},
			{`MSET 'a key' 'it\'s' k2 "" k3 v`, "+OK"},
			{`MGET k3 k2 "a key" 'none'`, "*4 $1 v $0  $4 it's $-1"},
			{`APPEND "a key" "!"`, ":5"},
			{`DEL "a key" k2 k3`, ":3"},
			{`ECHO ""`, "$0 "},
			{`NOSUCH "x y"`, "-ERR unknown command 'NOSUCH', with args beginning with: 'x y' "},
		} {
			c.send([]byte(x.line + "\r\n"))
			require.Equal(t, x.reply, c.reply(), x.line)
		}
		c.send([]byte("SET k 'x\r\n"))
		require.Equal(t, "-ERR Protocol error: unbalanced quotes in request", c.reply())
		c.expectEnd()
	})
}

func TestQuit(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		c := w.dial()
		c.send([]byte("SET a 1\r\nGET a\r\nQUIT\r\nGET a\r\n"))
		require.Equal(t, "+OK", c.reply())
		require.Equal(t, "$1 1", c.reply())
		require.Equal(t, "+OK", c.reply())
		c.expectEnd()
		c = w.dial()
		require.Equal(t, "+OK", c.do("quit", "now"))
		c.expectEnd()
	})
}

func TestInfo(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		c := w.dial()
		for _, words := range [][]string{{"INFO"}, {"info", "server", "ALL"}, {"INFO", "everything"}, {"INFO", "default"}} {
			info := c.do(words...)
			for _, want := range []string{"# Server ", "redis_version:7.", "# Clients connected_clients:1 ", "# Runtime ",
				fmt.Sprint("workers:", workers, " "), fmt.Sprint("tcp_address:", w.server.Addr(), " "), "total_connections_received:1 ",
				" parks:", " woken:", " borrowed:"} {
				require.Contains(t, info, want)
			}
		}
	})
}

// TestInfoSections: those that are named, each once, in the order of all, as in Redis 7.0.
func TestInfoSections(t *testing.T) {
	c := openWorld(t, 1, options{}).dial()
	heads := regexp.MustCompile(`(  |^[$=]\d+ (txt:)?)# (\w+) `)
	for _, x := range [][2]string{
		{"", "Server Clients Memory Stats Runtime"},
		{"server", "Server"},
		{"STATS", "Stats"},
		{"stats nonsense Clients stats", "Clients Stats"},
		{"nonsense", ""},
		{"nonsense All", "Server Clients Memory Stats Runtime"},
	} {
		info := c.do(strings.Fields("INFO " + x[0])...)
		var got []string
		for _, found := range heads.FindAllStringSubmatch(info, -1) {
			got = append(got, found[3])
		}
		require.Equal(t, x[1], strings.Join(got, " "), "INFO %s: %s", x[0], info)
	}
	require.Equal(t, "$0 ", c.do("INFO", "nonsense"))
	require.Regexp(t, `^\$\d+ # Clients connected_clients:1 $`, c.do("INFO", "clients"))
	c.do("HELLO", "3")
	require.Equal(t, "=4 txt:", c.do("INFO", "nonsense"))
}

// TestCommand: as many entries as COUNT says, each with a name and an arity.
func TestCommand(t *testing.T) {
	c := openWorld(t, 1, options{}).dial()
	all := c.do("COMMAND")
	require.True(t, strings.HasPrefix(all, fmt.Sprintf("*%d *6 $6 append :3 *1 +denyoom :1 :1 :1 ", len(commands))), all)
	require.Contains(t, all, "*6 $4 mget :-2 *0 :1 :-1 :1 ")
	require.Equal(t, len(commands), strings.Count(all, "*6 "))
	require.IsIncreasing(t, names())
}

func names() (all []string) {
	for _, e := range commands {
		all = append(all, e.name)
	}
	return all
}

// TestBigValues: longer than any slab, alone and in a pipeline, and with other
// connections served meanwhile.
func TestBigValues(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		c, other := w.dial(), w.dial()
		sizes := []int{1 << 20, 20 << 20}
		if housetest.Slow {
			sizes[1] = 3 << 20 // all bytes are looked at, time and again
		}
		for _, n := range sizes {
			value := strings.Repeat("0123456789abcdef", n/16)
			require.Equal(t, "+OK", c.do("SET", "big", value))
			require.Equal(t, "+OK", other.do("SET", "small", "x"))
			require.Equal(t, fmt.Sprintf(":%d", n), c.do("STRLEN", "big"))
			require.Equal(t, fmt.Sprintf("$%d %s", n, value), c.do("GET", "big"))
			require.Equal(t, fmt.Sprintf("*3 $1 x $%d %s $1 x", n, value), c.do("MGET", "small", "big", "small"))
			require.Equal(t, fmt.Sprintf(":%d", n+1), c.do("APPEND", "big", "y"))
			require.Equal(t, fmt.Sprintf("$%d %sy", n+1, value), c.do("GET", "big"))
			require.Equal(t, fmt.Sprintf("$%d %s", n, value), c.do("ECHO", value))
			require.Equal(t, ":1", c.do("DEL", "big"))
		}
		require.Equal(t, "-ERR Protocol error: invalid bulk length", c.sendHeader(64<<20+1))
		c.expectEnd()
	})
}

// sendHeader announces an argument of n bytes.
func (c *client) sendHeader(n int) string {
	c.send(fmt.Appendf(nil, "*2\r\n$4\r\nECHO\r\n$%d\r\n", n))
	return c.reply()
}

// TestBigPipeline: a client that sends a lot before it reads anything.
func TestBigPipeline(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		const n = 20_000
		value := strings.Repeat("v", 300)
		sent := make(chan error, 1)
		go func() {
			var text []byte
			for i := range n {
				key := fmt.Sprint("key", i%100)
				text = resp.AppendCommand(text[:0], "SET", key, fmt.Sprint(value, i))
				text = resp.AppendCommand(text, "GET", key)
				text = resp.AppendCommand(text, "MGET", key, "none")
				if _, err := c.Write(text); err != nil {
					sent <- err
					return
				}
			}
			sent <- nil
		}()
		for i := range n {
			v := fmt.Sprint(value, i)
			bulk := fmt.Sprintf("$%d %s", len(v), v)
			for _, want := range []string{"+OK", bulk, "*2 " + bulk + " $-1"} {
				if got := c.reply(); got != want {
					t.Fatalf("%.60q, want %.60q", got, want)
				}
			}
		}
		require.NoError(t, <-sent)
	})
}

func TestExpiry(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, virtual())
		c := w.dial()
		for i := range 1000 {
			c.do("SET", fmt.Sprint("k", i), "v", "PX", fmt.Sprint(1+i))
		}
		c.do("SET", "stays", "v")
		require.Equal(t, ":1001", c.do("DBSIZE"))
		w.pass(500 * time.Millisecond)
		require.Equal(t, "$-1", c.do("GET", "k499"))
		require.Equal(t, "$1 v", c.do("GET", "k500"))
		require.Equal(t, ":0", c.do("EXPIRE", "k499", "10"))
		require.Equal(t, ":1", c.do("EXPIRE", "k500", "10"))
		require.Equal(t, ":1", c.do("PERSIST", "k501"))
		require.Equal(t, ":-2", c.do("TTL", "k498"))
		for range 20 { // the sweep finds those that nobody asks for
			w.pass(100 * time.Millisecond)
		}
		require.Equal(t, ":3", c.do("DBSIZE"))
		require.Equal(t, ":8", c.do("TTL", "k500"))
		w.pass(8600 * time.Millisecond)
		require.Equal(t, "*3 $-1 $1 v $1 v", c.do("MGET", "k500", "k501", "stays"))
	})
}

// TestRealClock: without a virtual clock keys expire too.
func TestRealClock(t *testing.T) {
	c := openWorld(t, 2, options{}).dial()
	require.Equal(t, "+OK", c.do("SET", "k", "v", "PX", "20"))
	for began := time.Now(); c.do("DBSIZE") != ":0"; {
		require.Less(t, time.Since(began), lostAfter, "the key doesn't expire")
	}
	require.Equal(t, "$-1", c.do("GET", "k"))
}

// TestStartFails: what was opened before is closed again.
func TestStartFails(t *testing.T) {
	w := openWorld(t, 2, options{})
	before := descriptors(t)
	_, err := start(t.Context(), options{network: "tcp", address: w.server.Addr(), workers: -1})
	require.Error(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, err = start(t.Context(), options{network: "tcp", address: l.Addr().String(), workers: 2})
	require.ErrorContains(t, err, "address already in use")
	l.Close()
	require.Equal(t, before, descriptors(t))
}
