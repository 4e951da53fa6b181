//go:build linux

package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/stackhouse-go/stackhouse/netio"
)

// load is connections that each have some messages under way: what comes back is sent again.
type load struct {
	shape
	poller   *netio.Poller
	clients  []*client
	buffer   []byte
	batch    []byte // of one connection's messages
	messages int    // that came back
	waiting  int    // connections that have messages under way
	over     bool   // nothing is sent again
	err      error
}

// client is one connection of a load.
type client struct {
	load  *load
	fd    int
	token netio.Token
	tls   *tls.Conn // nil: plain
	owed  int       // bytes that are to come back before more is sent
}

// newLoad connects, and waits for a server that is just starting. roots are whose certificate it
// must have, if the shape is over TLS.
func newLoad(s shape, address string, roots *x509.CertPool) (*load, error) {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			break
		}
		if time.Since(began) > 5*time.Second {
			return nil, err
		}
	}
	p, err := netio.Open()
	if err != nil {
		return nil, err
	}
	l := &load{shape: s, poller: p, buffer: make([]byte, 256<<10), batch: make([]byte, s.size*s.deep)}
	for range s.conns {
		c := &client{load: l}
		if c.fd, err = p.Connect("tcp", address); err != nil {
			return nil, err
		}
		if c.token, err = p.Add(c.fd, c); err != nil {
			return nil, err
		}
		p.SetNoDelay(c.fd)
		for p.ConnectError(c.fd) == netio.ErrAgain {
			time.Sleep(time.Millisecond)
		}
		if s.tls {
			if err = c.secure(roots); err != nil {
				return nil, err
			}
		}
		l.clients = append(l.clients, c)
	}
	_, err = p.Poll() // of the connects
	return l, err
}

func (l *load) close() {
	for _, c := range l.clients {
		l.poller.Remove(c.token, c.fd)
		l.poller.CloseFD(c.fd)
	}
	l.poller.Close()
}

// run loads the server for about d, and returns how many messages came back. When it returns none
// is under way.
func (l *load) run(d time.Duration) (messages int, err error) {
	end := time.Now().Add(d)
	l.messages, l.waiting, l.over = 0, 0, false
	for _, c := range l.clients {
		c.send()
	}
	for l.waiting > 0 && l.err == nil {
		if _, err := l.poller.Poll(); err != nil {
			return 0, err
		}
		now := time.Now()
		if l.over = now.After(end); now.After(end.Add(5 * time.Second)) {
			return 0, errors.New("not everything comes back")
		}
	}
	return l.messages, l.err
}

// send sends the connection's messages.
func (c *client) send() {
	l := c.load
	c.owed = len(l.batch)
	l.waiting++
	if n, err := c.write(l.batch); n < len(l.batch) { // a socket takes more at once
		l.err = fmt.Errorf("wrote %d bytes: %w", n, err)
	}
}

func (c *client) write(p []byte) (int, error) {
	if c.tls != nil {
		return c.tls.Write(p)
	}
	return c.load.poller.Write(c.fd, p)
}

func (c *client) read(p []byte) (int, error) {
	if c.tls != nil {
		return c.tls.Read(p)
	}
	return c.load.poller.Read(c.fd, p)
}

// Ready implements netio.Handler.
func (c *client) Ready(r netio.Ready) {
	l := c.load
	for r&netio.Readable != 0 {
		n, err := c.read(l.buffer)
		if err == netio.ErrAgain || err == errAgain {
			return
		}
		if err != nil {
			l.err = fmt.Errorf("read: %w", err)
			return
		}
		if c.owed -= n; c.owed == 0 {
			l.messages += l.deep
			l.waiting--
			if !l.over {
				c.send()
			}
			return
		}
	}
}
