package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	conns = 8
	// window is how many requests of one connection are under way in the closed loop: a quarter
	// of the default mailbox together.
	window = 32
	tick   = time.Millisecond
)

// tally is what the load saw.
type tally struct {
	sent, good atomic.Uint64
	got        [codes]atomic.Uint64
}

func (t *tally) answered() (n uint64) {
	for i := range t.got {
		n += t.got[i].Load()
	}
	return n
}

// read counts results until the connection, or the wait for all, ends.
func (t *tally) read(c net.Conn, each func()) error {
	in := bufio.NewReaderSize(c, 64<<10)
	var b [wordSize + 1]byte
	for {
		if _, err := io.ReadFull(in, b[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		code := b[wordSize] & 3
		t.got[code].Add(1)
		// A result's upper bits are lost in the server's shift: the time of day needs 61.
		took := time.Now().UnixNano() - int64(binary.LittleEndian.Uint64(b[:]))
		if code == codeDone && took <= int64(patience) {
			t.good.Add(1)
		}
		each()
	}
}

// run opens the connections, has send fill each, and waits for every result.
func run(address string, send func(c net.Conn, t *tally, more <-chan struct{}) error) (*tally, error) {
	t := &tally{}
	var group sync.WaitGroup
	errs := make(chan error, 2*conns)
	for range conns {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		more := make(chan struct{}, window)
		group.Go(func() {
			errs <- t.read(c, func() {
				select {
				case more <- struct{}{}:
				default: // the open loop waits for nothing
				}
			})
			close(more) // nobody waits for a server that has ended
			c.Close()
		})
		group.Go(func() {
			errs <- send(c, t, more)
			c.(*net.TCPConn).CloseWrite()
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if sent, got := t.sent.Load(), t.answered(); sent != got {
		return nil, fmt.Errorf("%d requests, %d results", sent, got)
	}
	return t, nil
}

// closed sends a request for each result, for d.
func closed(d time.Duration) func(net.Conn, *tally, <-chan struct{}) error {
	return func(c net.Conn, t *tally, more <-chan struct{}) error {
		var b []byte
		for i, began := 0, time.Now(); time.Since(began) < d; i++ {
			n := 1
			if i == 0 {
				n = window
			} else if _, lives := <-more; lives {
				n += len(more)
				for range n - 1 {
					<-more
				}
			} else {
				return nil
			}
			b = b[:0]
			for range n {
				b = binary.LittleEndian.AppendUint64(b, uint64(time.Now().UnixNano()))
			}
			t.sent.Add(uint64(n))
			if _, err := c.Write(b); err != nil {
				return err
			}
		}
		return nil
	}
}

// open sends rate requests a second over all connections, for d. One that is sent late was due
// when it was due.
func open(d time.Duration, rate float64) func(net.Conn, *tally, <-chan struct{}) error {
	return func(c net.Conn, t *tally, _ <-chan struct{}) error {
		gap := float64(time.Second) / rate * conns
		began, sent := time.Now(), 0
		var b []byte
		for elapsed := time.Duration(0); elapsed < d; elapsed = time.Since(began) {
			b = b[:0]
			for ; float64(sent)*gap < float64(elapsed) && len(b) < 64<<10; sent++ {
				due := began.UnixNano() + int64(float64(sent)*gap)
				b = binary.LittleEndian.AppendUint64(b, uint64(due))
			}
			t.sent.Add(uint64(len(b) / wordSize))
			if _, err := c.Write(b); err != nil {
				return err
			}
			time.Sleep(tick)
		}
		return nil
	}
}
