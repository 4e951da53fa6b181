package secure

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// handshake is a handshake on a goroutine, between which and the connection's worker bytes go to
// and fro. It is
//
//	waiting  in gate.waiting
//	dropped  it waited, and others took its place: it ends with its connection
//	running  in gate.running: the goroutine reads in and writes out, and wakes the worker when it
//	         waits for more
//	over     done is set: the goroutine is at work for another
//
// As a net.Conn it is that of its tls.Conn, until that is over.
type handshake struct {
	by   *TLS
	from netip.Addr // zero: nobody whose handshakes are counted
	conn *tls.Conn
	wake func() // the worker
	ctx  context.Context
	stop context.CancelFunc

	// of the gate, under its lock
	crowd  *crowd
	relief *handshake // as long as it waits: the one that was told to go for it

	mu    sync.Mutex
	more  sync.Cond // in has grown, or cause is set
	in    []byte    // received, and not read yet
	out   []byte    // for the socket
	taken int       // bytes of in that were read
	left  int       // of the record that is being read
	idle  time.Time // since when it waits for the other end; zero: it doesn't
	cause error     // why it must go
	done  bool
	err   error
}

func newHandshake(by *TLS, from netip.Addr, wake func()) *handshake {
	h := &handshake{by: by, from: from, wake: wake}
	h.more.L = &h.mu
	h.ctx, h.stop = context.WithCancel(context.Background())
	return h
}

// run is what the goroutine does.
func (h *handshake) run() { h.end(h.shake()) }

func (h *handshake) shake() (err error) {
	defer func() {
		if value := recover(); value != nil { // of a function of the Config
			err = fmt.Errorf("%w: %v", ErrPanic, value)
		}
	}()
	return h.conn.HandshakeContext(h.ctx)
}

// end is the transition to over.
func (h *handshake) end(err error) {
	h.stop()
	h.mu.Lock()
	if h.cause != nil {
		err = h.cause
	}
	h.done, h.err = true, err
	h.mu.Unlock()
	if err == nil {
		h.by.counts.done.Add(1)
	} else {
		h.by.counts.failed.Add(1)
	}
	h.wake()
}

// giveUp has a handshake that runs end soon.
func (h *handshake) giveUp(cause error) {
	h.mu.Lock()
	first := h.cause == nil && !h.done
	if first {
		h.cause = cause
		h.more.Signal()
	}
	h.mu.Unlock()
	if first && cause == ErrHandshakeRoom {
		h.by.counts.replaced.Add(1)
	}
	h.stop()
}

// waitsSince returns since when the handshake has waited for the other end.
func (h *handshake) waitsSince() (at time.Time, waits bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.idle, !h.idle.IsZero() && h.cause == nil
}

// give adds what the other end has sent. The worker calls it.
func (h *handshake) give(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.in = append(h.in, p...)
	h.idle = time.Time{}
	h.more.Signal()
}

// take returns what is for the socket, and whether the handshake waits for the other end. The
// worker calls it.
func (h *handshake) take() (out []byte, waits, done bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	out, h.out = h.out, nil
	return out, !h.idle.IsZero(), h.done, h.err
}

// Read waits for the other end's bytes. It reads no further than to the end of a record: what is
// behind the last one of the handshake isn't for this goroutine.
func (h *handshake) Read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.taken > h.by.limits.Size {
		return 0, ErrHandshakeSize
	}
	for {
		if h.cause != nil {
			return 0, h.cause
		}
		if h.left == 0 {
			h.left = recordLen(h.in)
		}
		if h.left > 0 && len(h.in) > 0 {
			break
		}
		h.wait()
	}
	n := copy(p[:min(len(p), h.left)], h.in)
	h.in, h.left, h.taken = h.in[n:], h.left-n, h.taken+n
	return n, nil
}

// wait waits until something has changed. The worker hears of it, to send what was written, and to
// read on.
func (h *handshake) wait() {
	if !h.idle.IsZero() {
		h.more.Wait()
		return
	}
	h.idle = time.Now()
	h.mu.Unlock()
	h.wake()
	h.mu.Lock()
}

// Write adds to what is for the socket.
func (h *handshake) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out = append(h.out, p...)
	return len(p), nil
}

// Close is called when ctx ends.
func (h *handshake) Close() error {
	h.giveUp(net.ErrClosed)
	return nil
}
