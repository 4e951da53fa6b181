package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/netio"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "17": 17, "1b": 1, "1k": 1000, "1KB": 1024, "100mb": 100 << 20, "2M": 2e6, "1gb": 1 << 30, "3g": 3e9} {
		n, ok := parseSize(text)
		require.True(t, ok, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "mb", "x", "-1", "1tb", "1 mb", "1.5gb", "9223372036854775807k", "99999999999999999999"} {
		_, ok := parseSize(text)
		require.False(t, ok, text)
	}
}

// TestMaxmemory: what grows is refused, the rest goes on, and what is deleted makes
// room.
func TestMaxmemory(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{maxmemory: 1 << 20})
		c := w.dial()
		const refused = "-OOM command not allowed when used memory > 'maxmemory'."
		n := 0
		for ; ; n++ {
			reply := c.do("SET", fmt.Sprint("k", n), strings.Repeat("v", 1000))
			if reply == refused {
				break
			}
			require.Equal(t, "+OK", reply)
			require.Less(t, n, 1100)
		}
		require.Greater(t, n, 800)
		for _, line := range []string{"SET k1 v", "SETNX k1 v", "SETEX k1 9 v", "PSETEX k1 9 v", "APPEND k1 v", "SETRANGE k1 0 v", "INCR i", "INCRBY i 1",
			"DECR i", "DECRBY i 1", "INCRBYFLOAT i 1", "GETSET k1 v", "MSET k1 v", "MSET k1 v k2", "MSETNX k1 v", "HSET h f v", "HMSET h f v", "HSETNX h f v",
			"HINCRBY h f 1", "HINCRBYFLOAT h f 1"} {
			require.Equal(t, refused, c.do(strings.Fields(line)...), line)
		}
		for _, x := range [][2]string{{"STRLEN k1", ":1000"}, {"EXPIRE k1 100", ":1"}, {"PERSIST k1", ":1"}, {"RENAME k1 k1b", "+OK"},
			{"RENAMENX k1b k1", ":1"}, {"GETDEL k0", "$1000 " + strings.Repeat("v", 1000)}, {"HDEL h f", ":0"}, {"DBSIZE", fmt.Sprint(":", n-1)}} {
			require.Equal(t, x[1], c.do(strings.Fields(x[0])...), x[0])
		}
		for i := range n / 2 {
			c.do("DEL", fmt.Sprint("k", i))
		}
		require.Equal(t, "+OK", c.do("SET", "k", "v"))
		require.Contains(t, c.do("INFO"), " maxmemory:1048576 ")
		require.Equal(t, "+OK", c.do("CONFIG", "SET", "maxmemory", "1"))
		require.Equal(t, refused, c.do("SET", "k", "v"))
		require.Equal(t, "+OK", c.do("CONFIG", "SET", "maxmemory", "0"))
		require.Equal(t, "+OK", c.do("SET", "k", "v"))
	})
}

// TestInputMax: where memory is limited arguments are, and so is what many clients have sent of
// theirs; others are served meanwhile, and all that comes whole is done.
func TestInputMax(t *testing.T) {
	for _, x := range []struct{ maxmemory, argument, input int64 }{
		{0, 64 << 20, 64 << 20}, {1 << 40, 64 << 20, 64 << 20}, {64 << 20, 16 << 20, 8 << 20}, {1, 1 << 20, 1 << 20},
	} {
		require.EqualValues(t, x.argument, argumentMax(x.maxmemory))
		require.EqualValues(t, x.input, inputMax(x.maxmemory))
	}
	each(t, func(t *testing.T, workers int) {
		const (
			clients = 40
			size    = 3 << 20 / 2
		)
		w := openWorld(t, workers, options{maxmemory: 8 << 20, password: "secret"})
		dial := func() *client {
			c := w.dial()
			require.Equal(t, "+OK", c.do("AUTH", "secret"))
			return c
		}
		text := resp.AppendCommand(nil, "SET", "k", strings.Repeat("v", size))
		var all []*client
		for range clients {
			all = append(all, dial())
		}
		other := dial()
		before := heap()
		var sent sync.WaitGroup
		rest := make(chan struct{})
		for _, c := range all {
			sent.Go(func() {
				c.Write(text[:size/2]) // more than is read of most
				<-rest
				c.Write(text[size/2:])
			})
		}
		for range 100 {
			require.Equal(t, "+OK", other.do("SET", "o", "1"))
			if netio.CanShare { // the portable poller reads ahead
				require.Less(t, heap()-before, int64(1<<20+workers*2*size+clients<<11))
			}
		}
		close(rest)
		late := 0
		for _, c := range all {
			if reply := c.reply(); reply == "-ERR the request took too long to arrive" {
				late++ // its turn had come while it sent nothing
			} else {
				require.Equal(t, "+OK", reply)
			}
		}
		require.Less(t, late, clients/2)
		sent.Wait()
		other.send(resp.AppendCommand(nil, "SET", "k", strings.Repeat("v", 2<<20+1))[:100])
		require.Equal(t, "-ERR Protocol error: invalid bulk length", other.reply())
	})
}

// TestDeletedHashMakesRoom: what it held is taken back bit by bit, without commands.
func TestDeletedHashMakesRoom(t *testing.T) {
	w := openWorld(t, 1, options{maxmemory: 1 << 20})
	c := w.dial()
	for i := 0; c.do("HSET", "h", fmt.Sprint("f", i), strings.Repeat("v", 100)) == ":1"; i++ {
		require.Less(t, i, 50_000)
	}
	require.Equal(t, ":1", c.do("UNLINK", "h"))
	for began := time.Now(); c.do("HSET", "h", "f", "v") != ":1"; {
		require.Less(t, time.Since(began), lostAfter)
	}
	usage := func(key string) int {
		n, err := strconv.Atoi(c.do("MEMORY", "USAGE", key)[1:])
		require.NoError(t, err)
		return n
	}
	small := usage("h")
	for i := range 200 {
		c.do("HSET", "h", fmt.Sprint("f", i), strings.Repeat("v", 100))
	}
	require.Less(t, small, 200)
	require.Greater(t, usage("h"), 200*100)
	require.Less(t, usage("h"), 200*300)
}
