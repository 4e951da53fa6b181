package main

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// conn is one connection to one server.
type conn struct {
	net.Conn
	in  []byte // what has come; replies alias it until the next exchange
	end int    // what the replies of the last exchange took
}

func dial(address string) (*conn, error) {
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// exchange sends requests, and returns the replies to them as they came.
func (c *conn) exchange(requests []byte, replies int, wait time.Duration) ([][]byte, error) {
	return c.start(requests, replies, wait)()
}

// start begins to send; the func that it returns waits for the replies. They are
// read while the rest is sent, because a server may stop reading until we read.
func (c *conn) start(requests []byte, replies int, wait time.Duration) func() ([][]byte, error) {
	c.SetDeadline(time.Now().Add(wait))
	sent := make(chan error, 1)
	go func() {
		_, err := c.Write(requests)
		sent <- err
	}()
	return func() ([][]byte, error) {
		all, err := c.read(replies)
		if err != nil {
			c.Close() // what has not been sent must not wait
		}
		return all, errors.Join(<-sent, err)
	}
}

// read returns the next replies, all of one exchange.
func (c *conn) read(replies int) ([][]byte, error) {
	c.in = c.in[:copy(c.in, c.in[c.end:])]
	c.end = 0
	ends := make([]int, 0, replies)
	for len(ends) < replies {
		var v resp.Value
		n, err := resp.DecodeReply(c.in[c.end:], &v, resp.Limits{})
		if err != nil {
			return nil, fmt.Errorf("reply %d of %d: %w: %.100q", len(ends)+1, replies, err, c.in[c.end:])
		}
		if n > 0 {
			c.end += n
			ends = append(ends, c.end)
			continue
		}
		if err := c.fill(); err != nil {
			return nil, fmt.Errorf("reply %d of %d: %w, behind %.100q", len(ends)+1, replies, err, c.in[c.end:])
		}
	}
	all := make([][]byte, replies)
	from := 0
	for i, end := range ends {
		all[i], from = c.in[from:end:end], end
	}
	return all, nil
}

func (c *conn) fill() error {
	if cap(c.in)-len(c.in) < 16<<10 {
		c.in = append(make([]byte, 0, 2*cap(c.in)+64<<10), c.in...)
	}
	n, err := c.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	if n > 0 {
		return nil
	}
	return err
}

// pair is a connection to each of the servers.
type pair struct{ redis, kv *conn }

func dialPair(o options) (p pair, err error) {
	if p.redis, err = dial(o.redis); err != nil {
		return p, err
	}
	if p.kv, err = dial(o.kv); err != nil {
		p.redis.Close()
	}
	return p, err
}

func (p pair) close() {
	p.redis.Close()
	p.kv.Close()
}

// abort breaks the connections: the servers find them reset.
func (p pair) abort() {
	for _, c := range []*conn{p.redis, p.kv} {
		c.Conn.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

// exchange sends the same requests to both and returns the replies of each.
func (p pair) exchange(requests []byte, replies int, wait time.Duration) (redis, kv [][]byte, err error) {
	fromRedis := p.redis.start(requests, replies, wait)
	fromKV := p.kv.start(requests, replies, wait)
	redis, redisErr := fromRedis()
	kv, kvErr := fromKV()
	if redisErr != nil {
		redisErr = fmt.Errorf("redis-server: %w", redisErr)
	}
	if kvErr != nil {
		kvErr = fmt.Errorf("kv: %w", kvErr)
	}
	return redis, kv, errors.Join(redisErr, kvErr)
}
