package channel

import (
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

// This file is how a connection closes while its client may still send. If bytes are unread when a
// socket is closed, or come later, the kernel sends a reset, which may overtake results on their
// way to the client. So a connection that has nothing left to say lingers:
//
//	ends     its sending side: behind the last result the client reads the end
//	drops    what comes, until the client has ended its side, too: then it closes
//	waits    when it has dropped lingerBytes: it reads no more, and closes once the client's
//	         system has acknowledged all bytes and the end
//	closes   in any case, lingerTime after it began to linger

const (
	// lingerTime is long for a live client that ends its side, and short for a connection of no
	// further use.
	lingerTime = 2 * time.Second
	// lingerBytes is how many bytes a client may have on their way; one that sends more hasn't read
	// its results.
	lingerBytes = 1 << 20
	// lingerLook is how often a connection that waits looks what was acknowledged.
	lingerLook = 10 * time.Millisecond
)

// linger is what a connection needs only while it lingers.
type linger struct {
	dropped int // bytes
	over    core.Future[core.Tick]
	look    core.Future[core.Tick]
}

// finish is what run does last for a connection that is finished: it lingers, or ends.
func (c *wire) finish() core.Yield {
	if c.phase != lingering && !c.beginToLinger() || c.canClose() {
		return c.End()
	}
	return stack.Again(&c.Stack)
}

// beginToLinger is the transition ending, deaf -> lingering. It reports false if the connection is
// to close at once.
func (c *wire) beginToLinger() bool {
	if c.cut || c.eof || !c.muted && c.net().Shutdown(c.fd, true) != nil {
		return false
	}
	c.phase, c.linger = lingering, &linger{}
	core.Timer.Ask(&c.Stack, &c.linger.over, lingerTime)
	return true
}

// canClose reports whether a lingering connection can close.
func (c *wire) canClose() bool {
	l := c.linger
	if l.over.Ready() || c.readable && c.swallow() {
		return true
	}
	if l.dropped < lingerBytes {
		return false
	}
	if n, known := c.net().Unsent(c.fd); known && n == 0 {
		return true
	}
	if !l.look.Waiting() {
		core.Timer.Ask(&c.Stack, &l.look, lingerLook)
	}
	return false
}

// swallow drops received bytes, for the connection's share of a turn. It reports whether the client
// has ended its side, or the connection is broken.
func (c *wire) swallow() bool {
	for range readsMax {
		if c.linger.dropped >= lingerBytes {
			return false
		}
		n, err := c.net().Read(c.fd, c.tools.buffer)
		c.linger.dropped += n
		switch err {
		case nil:
		case netio.ErrAgain:
			c.readable = false
			return false
		default:
			return true
		}
	}
	c.schedule()
	return false
}
