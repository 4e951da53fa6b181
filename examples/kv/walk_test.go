package main

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// costly is a pattern, and a name that it takes half a minute and more to find out about.
var costly, costlyName = "*" + strings.Repeat("a", 8<<10) + "b", strings.Repeat("a", 8<<20)

// TestWalksGiveTheStoreUp: whatever a command looks for, others have their turn meanwhile, and
// those behind it on its connection don't overtake it.
func TestWalksGiveTheStoreUp(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		c := w.dial()
		require.Equal(t, "+OK", c.do("SET", costlyName, "1"))
		require.Equal(t, ":1", c.do("HSET", "h", costlyName, "1"))
		other := w.dial()
		for _, words := range [][]string{
			{"KEYS", costly},
			{"SCAN", fmt.Sprint(w.cluster.of([]byte(costlyName))), "MATCH", costly, "COUNT", "1000"},
			{"HSCAN", "h", "0", "MATCH", costly, "COUNT", "1000"},
		} {
			walker := w.dial()
			text := resp.AppendCommand(nil, words...)
			walker.send(append(text, encoded("SET behind"+words[0]+" 1")...))
			for i := range 10 {
				require.Equal(t, "+OK", other.do("SET", fmt.Sprint("k", i), "1"), words[0])
			}
			require.Equal(t, "$-1", other.do("GET", "behind"+words[0]), words[0])
			require.NoError(t, walker.Conn.(*net.TCPConn).SetLinger(0)) // or the server would have it answered yet
			walker.Close()
		}
	})
}

// TestWalkGoesOn: what a pattern takes several turns for comes out the same, and in order.
func TestWalkGoesOn(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		name := strings.Repeat("a", 100_000) // walkSteps are soon over
		for i := range 20 {
			c.do("SET", fmt.Sprint(name, "b", i), "1")
			c.do("HSET", "h", fmt.Sprint(name, "b", i), fmt.Sprint(i))
		}
		pattern := "*aaaaaaab[0-9]*"
		require.Len(t, c.scanned("HSCAN", "h", "CURSOR", "MATCH", pattern, "COUNT", "1000"), 40)
		require.Len(t, c.scanned("HSCAN", "h", "CURSOR", "MATCH", pattern+"x"), 0)
		c.send(append(resp.AppendCommand(nil, "KEYS", pattern), encoded("FLUSHALL", "DBSIZE")...))
		require.Equal(t, 20, strings.Count(c.reply(), name))
		require.Equal(t, "+OK", c.reply())
		require.Equal(t, ":0", c.reply())
	})
}

// TestManyOptions: the work is in proportion to their number.
func TestManyOptions(t *testing.T) {
	c := openWorld(t, 1, options{}).dial()
	require.Equal(t, "+OK", c.do("SET", "k", "v"))
	for _, x := range []struct{ line, more, want string }{
		{"SET k v", "GET", "$1 v"},
		{"GETEX k", "PERSIST", "$1 v"},
		{"EXPIRE k 1", "XX", ":0"},
		{"MEMORY USAGE k", "SAMPLES 1", ":"},
		{"SCAN 0", "COUNT 1", "*2 $"},
		{"HSCAN none 0", "COUNT 1", "*2 $1 0 *0"},
		{"HELLO 2", "SETNAME me", "*14 "},
		{"CLIENT LIST ID", "1 2", "$"},
		{"CLIENT KILL", "SKIPME no SKIPME yes", ":0"},
	} {
		words, more := strings.Fields(x.line), strings.Fields(x.more)
		for range 300_000 / len(more) {
			words = append(words, more...)
		}
		require.Contains(t, c.do(words...), x.want, x.line)
	}
}

// TestConfigGetIsQuick: the longest patterns that it takes, and one that is longer.
func TestConfigGetIsQuick(t *testing.T) {
	c := openWorld(t, 1, options{}).dial()
	require.Equal(t, "*0", c.do("CONFIG", "GET", "*["+strings.Repeat("x", patternsMax-100)))
	require.Contains(t, c.do("CONFIG", "GET", "*["+strings.Repeat("x", patternsMax)), "-ERR the patterns")
}

// TestWalkKeepsWhatItFound: a value that it has found stays as it was, whatever becomes of its
// hash.
func TestWalkKeepsWhatItFound(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		walker, other := w.dial(), w.dial()
		field, old := strings.Repeat("a", 40_000)+"b", strings.Repeat("v", 1000)
		require.Equal(t, ":1", other.do("HSET", "h", field, old))
		walker.send(resp.AppendCommand(nil, "HSCAN", "h", "0", "MATCH", "*"+strings.Repeat("a", 256)+"b"))
		for i := range 20 { // it has begun by then
			require.Equal(t, "+OK", other.do("SET", fmt.Sprint("k", i), "1"))
		}
		require.Equal(t, ":1", other.do("DEL", "h"))
		for i := range 20 { // as long, so that one of them gets its place
			require.Equal(t, ":1", other.do("HSET", fmt.Sprint("h", i), strings.Repeat("c", len(field)), strings.Repeat("w", len(old))))
		}
		reply := walker.reply()
		require.Contains(t, reply, old)
		require.NotContains(t, reply, "w")
	})
}
