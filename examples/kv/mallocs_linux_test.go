//go:build !portable

// The portable poller allocates: goroutines and buffers stand behind each connection.

package main

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestCommandsAllocateNothing: a million GETs and a million SETs through sockets, with
// workers that park and are woken. The client is in the process too.
func TestCommandsAllocateNothing(t *testing.T) {
	n := 1_000_000
	if housetest.Slow {
		n = 20_000
	}
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{spin: 1}) // park as soon as there is nothing to do
		l := newLoad(t, w, setsAndGets)
		defer l.close()
		for began := time.Now(); w.system.Stats().Parks < uint64(10*workers); {
			require.Less(t, time.Since(began), lostAfter, "the workers don't park")
			l.run(1, 1)
		}
		const round = 2 * loadDepth * loadConns
		// so that the pools hold more than ever is out at once later on
		l.run(n/10/round/4+1, 4*loadConns)
		housetest.ZeroAlloc(t, 2*n, func(n int) { l.run(n/round+1, loadConns) })
	})
}

const (
	loadConns = 8
	loadDepth = 32 // pairs of a SET and a GET in one write
)

// TestLongValuesAllocateNothing: replies that together are longer than pool.SlabMax.
func TestLongValuesAllocateNothing(t *testing.T) {
	n := 50
	if housetest.Slow {
		n = 5
	}
	for _, size := range []int{3000, 6000, 30_000} {
		each(t, func(t *testing.T, workers int) {
			w := openWorld(t, workers, options{})
			value := strings.Repeat("v", size)
			require.Equal(t, "+OK", w.dial().do("SET", "long", value))
			l := newLoad(t, w, func(int) (text []string, replies []byte) {
				for range 2 * pipelineMax {
					text = append(text, "GET long")
					replies = resp.AppendBulkString(replies, value)
				}
				return text, replies
			})
			defer l.close()
			l.run(n, 4*loadConns)
			housetest.ZeroAlloc(t, n, func(n int) { l.run(n, loadConns) })
		})
	}
}

// TestLongestValuesTakeNoFreshMemory: slabs that are at home nowhere are used again.
func TestLongestValuesTakeNoFreshMemory(t *testing.T) {
	const size, n = 1 << 20, 20
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		value := strings.Repeat("v", size)
		l := newLoad(t, w, func(int) (text []string, replies []byte) {
			return []string{"SET long " + value, "GET long"}, resp.AppendBulkString([]byte("+OK\r\n"), value)
		})
		defer l.close()
		var before, after runtime.MemStats
		l.run(5, loadConns)
		runtime.ReadMemStats(&before)
		l.run(n, loadConns)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n*loadConns*size/2), "two slabs for each pair would be 4 times as much")
	})
}

// setsAndGets is a pipeline of them.
func setsAndGets(conn int) (text []string, replies []byte) {
	value := strings.Repeat("v", 32)
	for j := range loadDepth {
		key := fmt.Sprintf("key:%04d", conn*loadDepth+j)
		text = append(text, "SET "+key+" "+value, "GET "+key)
		replies = append(replies, "+OK\r\n"...)
		replies = resp.AppendBulkString(replies, value)
	}
	return text, replies
}

// everyCommand is a pipeline of commands on data, which ends where it began; s and t,
// and so on, are keys of the connection.
var everyCommand = [][2]string{
	{"SET s 1 EX 100", "+OK"},
	{"INCR s", ":2"},
	{"INCRBY s 41", ":43"},
	{"DECRBY s 3", ":40"},
	{"DECR s", ":39"},
	{"INCRBYFLOAT s 1.5", "$4 40.5"},
	{"TTL s", ":100"},
	{"PERSIST s", ":1"},
	{"SETEX s 100 value", "+OK"},
	{"PSETEX s 100000 value", "+OK"},
	{"EXPIRE s 200 GT", ":1"},
	{"PEXPIREAT s 4102444800000", ":1"},
	{"PEXPIRETIME s", ":4102444800000"},
	{"GETEX s EX 100", "$5 value"},
	{"GETRANGE s 1 -2", "$3 alu"},
	{"SETRANGE s 5 more", ":9"},
	{"APPEND s !", ":10"},
	{"STRLEN s", ":10"},
	{"SETNX s x", ":0"},
	{"GETSET s y", "$10 valuemore!"},
	{"SET s z KEEPTTL GET", "$1 y"},
	{"TYPE s", "+string"},
	{"OBJECT ENCODING s", "$6 embstr"},
	{"HGET s f", "-" + errKind},
	{"RENAME s t", "+OK"},
	{"RENAMENX t s", ":1"},
	{"GETDEL s", "$1 z"},
	{"MSETNX s 1 t 2", ":1"},
	{"MGET s t", "*2 $1 1 $1 2"},
	{"TOUCH s t", ":2"},
	{"UNLINK s t", ":2"},
	{"HSET h f v g w", ":2"},
	{"HSET h f longer", ":0"},
	{"HSETNX h f x", ":0"},
	{"HGET h f", "$6 longer"},
	{"HMGET h f none", "*2 $6 longer $-1"},
	{"HGETALL h", "*4 $1 f $6 longer $1 g $1 w"},
	{"HKEYS h", "*2 $1 f $1 g"},
	{"HVALS h", "*2 $6 longer $1 w"},
	{"HLEN h", ":2"},
	{"HEXISTS h f", ":1"},
	{"HSTRLEN h f", ":6"},
	{"HINCRBY h n 5", ":5"},
	{"HINCRBYFLOAT h d 0.5", "$3 0.5"},
	{"HSCAN h 0 MATCH [fg]", "*2 $1 0 *4 $1 f $6 longer $1 g $1 w"},
	{"HDEL h f n d", ":3"},
	{"HRANDFIELD h", "$1 g"},
	{"EXPIRE h 100", ":1"},
	{"RENAME h i", "+OK"},
	{"HMSET i a b", "+OK"},
	{"DEL i", ":1"},
	{"HSET big f500 other", ":0"},
	{"HGET big f500", "$5 other"},
	{"HINCRBY big n 0", ":7"},
}

func everyReply(conn int) (text []string, replies []byte) {
	for _, x := range everyCommand {
		words := strings.Fields(x[0])
		for i, key := range words {
			if i > 0 && len(key) == 1 && strings.Contains("shti", key) || key == "big" {
				words[i] = fmt.Sprint(key, ":", conn)
			}
		}
		text = append(text, strings.Join(words, " "))
		reply := x[1]
		if reply[0] == '$' || reply[0] == '*' {
			reply = strings.ReplaceAll(reply, " ", "\r\n")
		}
		replies = append(replies, reply+"\r\n"...)
	}
	return text, replies
}

// TestAllCommandsAllocateNothing: a pipeline of every command on data, again and again.
func TestAllCommandsAllocateNothing(t *testing.T) {
	rounds := 40
	if housetest.Slow {
		rounds = 5
	}
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{maxmemory: 1 << 30})
		c := w.dial()
		for conn := range 4 * loadConns {
			words := []string{"HSET", fmt.Sprint("big:", conn), "n", "7"}
			for i := range 600 {
				words = append(words, fmt.Sprint("f", i), "value")
			}
			require.Equal(t, ":601", c.do(words...))
		}
		l := newLoad(t, w, everyReply)
		defer l.close()
		l.run(50, 4*loadConns)
		housetest.ZeroAlloc(t, rounds*len(everyCommand)*loadConns, func(int) { l.run(rounds, loadConns) })
	})
}

// load is raw blocking connections, each with a pipeline of its own: a client that
// needs no heap.
type load struct {
	t    *testing.T
	fds  []int
	text [][]byte // of one round, by connection
	want [][]byte
	got  []byte
}

func newLoad(t *testing.T, w *world, round func(conn int) (text []string, replies []byte)) *load {
	l := &load{t: t}
	a, err := net.ResolveTCPAddr("tcp4", w.server.Addr())
	require.NoError(t, err)
	for i := range 4 * loadConns {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		sa := &syscall.SockaddrInet4{Port: a.Port}
		copy(sa.Addr[:], a.IP.To4())
		require.NoError(t, syscall.Connect(fd, sa))
		l.fds = append(l.fds, fd)
		lines, replies := round(i)
		var text []byte
		for _, line := range lines {
			text = resp.AppendCommand(text, strings.Fields(line)...)
		}
		l.text = append(l.text, text)
		l.want = append(l.want, replies)
		l.got = make([]byte, max(len(l.got), len(replies)))
	}
	return l
}

func (l *load) close() {
	for _, fd := range l.fds {
		syscall.Close(fd)
	}
}

// run does n rounds over the first conns connections: a pipeline on each, then the
// replies of all.
func (l *load) run(n, conns int) {
	for range n {
		for i, fd := range l.fds[:conns] {
			for text := l.text[i]; len(text) > 0; {
				k, err := syscall.Write(fd, text)
				if err != nil && err != syscall.EINTR {
					l.t.Fatal(err)
				}
				text = text[max(0, k):]
			}
		}
		for i, fd := range l.fds[:conns] {
			got := l.got[:len(l.want[i])]
			for rest := got; len(rest) > 0; {
				k, err := syscall.Read(fd, rest)
				if k == 0 || err != nil && err != syscall.EINTR {
					l.t.Fatal("the connection ended", err)
				}
				rest = rest[max(0, k):]
			}
			if string(got) != string(l.want[i]) {
				require.Equal(l.t, string(l.want[i]), string(got))
			}
		}
	}
}
