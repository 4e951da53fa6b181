package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/stackhouse-go/stackhouse/house/latency"
)

// The load on examples/kv: that of redis-benchmark -c 50 -P 16 -d 64, but with
// GETs among the SETs, and with every reply compared with what it should be.
const (
	kvConns  = 50
	kvFlight = 16 // requests of one connection under way
	kvKeys   = 10_000
	kvValue  = 64 // bytes
)

// kv measures the server from outside: both processes share the machine.
func kv(o options) (result, error) {
	dir, err := os.MkdirTemp("", "bench-kv-")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	s, err := startServer(dir, o.workers)
	if err != nil {
		return result{}, err
	}
	res, err := s.load(o)
	if stopErr := s.stop(); err == nil {
		err = stopErr
	}
	return res, err
}

func (s *server) load(o options) (result, error) {
	control, err := dialControl(s.address)
	if err != nil {
		return result{}, err
	}
	defer control.conn.Close()
	clients := make([]*client, kvConns)
	latencies := make([]*latency.Histogram, kvConns)
	for i := range clients {
		if clients[i], err = dial(s.address, uint64(i)); err != nil {
			return result{}, err
		}
		defer clients[i].conn.Close()
		latencies[i] = &clients[i].latencies
	}
	if err := clients[0].fill(); err != nil {
		return result{}, err
	}
	var used []time.Duration // CPU time of the server at each reading
	res, err := load{
		drivers:   kvConns,
		latencies: latencies,
		start: func(r *round) {
			for _, c := range clients {
				go c.drive(r)
			}
		},
		meter: func() (memory, error) {
			used = append(used, s.cpu())
			return control.memory()
		},
	}.measure(o)
	if err == nil {
		res.note = fmt.Sprintf("the server took %.2f µs of CPU time an operation", float64(used[1]-used[0])/1e3/float64(res.ops))
	}
	return res, err
}

// client is one connection.
type client struct {
	conn      net.Conn
	random    uint64
	out       []byte        // requests
	in        []byte        // what came
	want      []byte        // what should come
	ends      [kvFlight]int // where in want the replies end
	ops       uint64
	latencies latency.Histogram
}

func dial(address string, seed uint64) (*client, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, random: seed*0x9e3779b97f4a7c15 + 1, in: make([]byte, 4096)}, nil
}

// drive does one batch after the other.
func (c *client) drive(r *round) {
	c.conn.SetDeadline(time.Now().Add(time.Duration(r.until-now()) + grace/2))
	for c.ops = 0; ; c.ops += kvFlight {
		at := now()
		if r.over(at) {
			break
		}
		c.compose()
		if err := c.exchange(at); err != nil {
			r.fail(err)
			return
		}
	}
	r.leave(c.ops)
}

// compose writes requests, a SET and a GET in turn, and the replies to come.
func (c *client) compose() {
	c.out, c.want = c.out[:0], c.want[:0]
	for i := range c.ends {
		key := c.next() % kvKeys
		if i%2 == 0 {
			c.set(key)
		} else {
			c.get(key)
		}
		c.ends[i] = len(c.want)
	}
}

// next draws a random number: xorshift64 of G. Marsaglia, "Xorshift RNGs", 2003.
func (c *client) next() uint64 {
	x := c.random
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	c.random = x
	return x
}

func (c *client) set(key uint64) {
	c.out = append(c.out, "*3\r\n$3\r\nSET\r\n$12\r\n"...)
	c.out = appendKey(c.out, key)
	c.out = append(c.out, "\r\n$64\r\n"...)
	c.out = appendValue(c.out, key)
	c.out = append(c.out, "\r\n"...)
	c.want = append(c.want, "+OK\r\n"...)
}

func (c *client) get(key uint64) {
	c.out = append(c.out, "*2\r\n$3\r\nGET\r\n$12\r\n"...)
	c.out = appendKey(c.out, key)
	c.out = append(c.out, "\r\n"...)
	c.want = append(c.want, "$64\r\n"...)
	c.want = appendValue(c.want, key)
	c.want = append(c.want, "\r\n"...)
}

// appendKey appends 12 bytes.
func appendKey(b []byte, key uint64) []byte {
	b = append(b, "key:00000000"...)
	for at := len(b) - 1; key > 0; at-- {
		b[at] = byte('0' + key%10)
		key /= 10
	}
	return b
}

// appendValue appends the one value that the key ever has: the key, again and again.
func appendValue(b []byte, key uint64) []byte {
	from := len(b)
	b = appendKey(b, key)
	for n := len(b) - from; n < kvValue; n = len(b) - from {
		b = append(b, b[from:from+min(n, kvValue-n)]...)
	}
	return b
}

// exchange writes the requests, begun at the given time, and compares what comes.
func (c *client) exchange(began int64) error {
	if _, err := c.conn.Write(c.out); err != nil {
		return err
	}
	got, reply := 0, 0
	for got < len(c.want) {
		n, err := c.conn.Read(c.in[got:])
		if !bytes.HasPrefix(c.want[got:], c.in[got:got+n]) {
			return fmt.Errorf("replies %q, not %q", c.in[:got+n], c.want)
		}
		if err != nil {
			return err
		}
		got += n
		for at := now(); reply < kvFlight && c.ends[reply] <= got; reply++ {
			c.latencies.Record(time.Duration(at - began))
		}
	}
	return nil
}

// fill sets all keys.
func (c *client) fill() error {
	for key := uint64(0); key < kvKeys; {
		c.out, c.want = c.out[:0], c.want[:0]
		for i := range c.ends {
			c.set(key % kvKeys)
			key++
			c.ends[i] = len(c.want)
		}
		if err := c.exchange(now()); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	return nil
}
