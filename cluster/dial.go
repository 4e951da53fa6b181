package cluster

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
)

// dialer dials the connections of one track, one at a time: a dial that isn't wanted any more ends
// before the next begins.
type dialer struct {
	link   *link
	track  int // its number
	config channel.ConnectConfig[hub, nothing, pull]
	busy   bool   // Connect is under way
	opened *conn  // by it; nil: none yet
	number uint64 // of the dial that is wanted; 0: none is
}

func (d *dialer) init(l *link, track int) {
	d.link, d.track = l, track
	d.config.Config = l.hub.wiring(l.address, func() channel.Codec[nothing, pull] {
		d.opened = newConn(l.hub, l)
		return d.opened
	})
	d.config.Handler, d.config.ServerName = hubCarry, l.name
}

// wants has it dial. Where no address is known the other node must dial, or patience ends.
func (d *dialer) wants(number uint64) {
	if d.number = number; d.link.address != "" {
		d.begin()
	}
}

// drops has a dial not be wanted any more.
func (d *dialer) drops(number uint64) {
	if d.number == number {
		d.number = 0
	}
}

// begin has the hub dial, unless it does.
func (d *dialer) begin() {
	if !d.busy {
		d.busy = true
		tell(d.link.hub, on.dial, dial{d, d.number})
	}
}

// dials opens a connection.
func (d *dialer) dials(s core.Running, f *core.Future[core.Peer[pull]]) {
	channel.Connect(s, f, &d.config)
}

// dialled is the end of a dial.
func (d *dialer) dialled(number uint64, err error) {
	c, l, now := d.opened, d.link, d.link.hub.w.Now
	d.opened, d.busy = nil, false
	up := err == nil && c != nil && c.of != nil
	switch {
	case d.number != number: // given up
		if up {
			c.shut()
		}
		if d.number != 0 {
			d.begin()
		}
		return
	case up:
		l.joins(c, d.track, number)
		l.Dialled(d.track, number, now)
	default:
		if err != nil {
			l.fails(err)
		}
		l.Failed(d.track, number, now)
	}
	d.drops(number)
	l.settle()
}

// fails notes why a dial failed. The log has the first reason since there was a connection.
func (l *link) fails(err error) {
	if _, again := l.hub.node.failed.Swap(l.name, fmt.Errorf("dialling %s: %w", l.address, err)); !again {
		l.hub.w.Driver.Broken(fmt.Errorf("cluster: node %q can't be reached at %s: %w", l.name, l.address, err))
	}
}
