package netio_test

import (
	"fmt"
	"io"

	"github.com/stackhouse-go/stackhouse/netio"
)

// greeter accepts one connection and sends a line.
type greeter struct {
	listener int
	failed   error
}

func (g *greeter) Ready(netio.Ready) {
	fd, err := netio.Accept(g.listener)
	if err == netio.ErrAgain {
		return // another worker was faster
	}
	if err == nil {
		_, err = netio.Write(fd, []byte("hello\n"))
		netio.Close(fd)
	}
	g.failed = err
}

// reader collects what arrives on one connection.
type reader struct {
	fd   int
	text []byte
	end  error
}

func (r *reader) Ready(ready netio.Ready) {
	if ready&(netio.Readable|netio.Closed) == 0 {
		return
	}
	var buf [16]byte
	for r.end == nil { // edge-triggered: read on until ErrAgain
		n, err := netio.Read(r.fd, buf[:])
		r.text = append(r.text, buf[:n]...)
		if err == netio.ErrAgain {
			return
		}
		r.end = err
	}
}

func Example() {
	p, err := netio.Open()
	if err != nil {
		panic(err)
	}
	defer p.Close()

	listener, bound, err := netio.Listen("tcp", "127.0.0.1:0", netio.ListenOptions{})
	if err != nil {
		panic(err)
	}
	defer netio.Close(listener)
	g := &greeter{listener: listener}
	accepting, err := p.AddLevel(listener, g)
	if err != nil {
		panic(err)
	}

	fd, err := netio.Connect("tcp", bound)
	if err != nil {
		panic(err)
	}
	defer netio.Close(fd)
	r := &reader{fd: fd}
	reading, err := p.Add(fd, r)
	if err != nil {
		panic(err)
	}

	for r.end == nil && g.failed == nil {
		if err := p.Wait(-1); err != nil {
			panic(err)
		}
		p.Deliver()
	}
	fmt.Printf("%s%v\n", r.text, r.end == io.EOF)

	// A descriptor is removed before it is closed.
	fmt.Println(p.Remove(reading, fd), p.Remove(accepting, listener), p.Len())
	// Output:
	// hello
	// true
	// <nil> <nil> 0
}

// Wake ends a Wait from another thread. The worker looks at its own queue after it:
// the poller carries the news, not what it is about.
func ExamplePoller_Wake() {
	p, err := netio.Open()
	if err != nil {
		panic(err)
	}
	defer p.Close()

	queue := make(chan string, 1)
	go func() {
		queue <- "work" // first the work,
		p.Wake()        // then the news
	}()

	for {
		select {
		case what := <-queue:
			fmt.Println(what)
			return
		default:
			p.Wait(-1)
			p.Deliver()
		}
	}
	// Output: work
}

// nothing is a handler that has nothing to do: the poller is only to wait.
type nothing struct{}

func (nothing) Ready(netio.Ready) {}

// A list of buffers is written in one system call, and what did not fit is kept.
func ExampleWritev() {
	p, err := netio.Open()
	if err != nil {
		panic(err)
	}
	defer p.Close()
	listener, bound, err := netio.Listen("tcp", "127.0.0.1:0", netio.ListenOptions{})
	if err != nil {
		panic(err)
	}
	defer netio.Close(listener)
	fd, err := netio.Connect("tcp", bound)
	if err != nil {
		panic(err)
	}
	defer netio.Close(fd)
	if _, err := p.Add(fd, nothing{}); err != nil {
		panic(err)
	}

	var out netio.IOVecs
	out.Add([]byte("head "))
	out.Add([]byte("body"))
	for out.Bytes() > 0 {
		n, err := netio.Writev(fd, &out)
		if err == netio.ErrAgain {
			p.Wait(-1) // until it is connected, or has room
			p.Deliver()
			continue
		}
		if err != nil {
			panic(err)
		}
		out.Advance(n)
	}
	fmt.Println(out.Bytes())
	// Output: 0
}
