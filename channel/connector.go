package channel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// stagger is how long an address has before the next one of the same host is tried beside it: RFC
// 8305 recommends so much.
const stagger = 250 * time.Millisecond

// dialState is what a connector does.
//
//	resting   the pool has what it needs
//	resolving the host is being looked up
//	trying    connections to one or more of its addresses were begun: the first that stands joins
//	          the pool, and the others are cut
//	pausing   no address has accepted, or the last connection brought no reply: waits, then rests
type dialState uint8

const (
	resting dialState = iota
	resolving
	trying
	pausing
)

// connector opens a pool's connections, one at a time. It is an owned stack of the pool's house,
// pushed when the pool wants a connection, or when an attempt has ended.
type connector[Req, Rep any] struct {
	stack.Stack
	pool    *connPool[Req, Rep]
	state   dialState
	queued  bool
	wanted  bool // somebody waits for a connection, beside the asks
	telling bool // what is stashed begins again in the next step

	addresses []string
	next      int                  // of addresses, to be tried
	nextAt    int64                // when, beside those that are being tried, ns
	attempts  []*outConn[Req, Rep] // not connected yet
	cause     error                // why the last attempt failed
	failure   error                // pausing: what asks get, core.ErrNotSent

	backoff time.Duration // of the next pause, before chance
	until   int64         // pausing: when it ends, ns

	alarm core.Future[core.Tick]
	// always waits, so that the end of the house ends the connector
	keep core.Future[core.Tick]
}

// schedule has run called in a later visit to the house.
func (d *connector[Req, Rep]) schedule() {
	if !d.queued {
		d.queued = true
		d.Engine().Push(d.House(), &d.Stack)
	}
}

// tell has open and rest, if somebody waits for either, look again.
func (d *connector[Req, Rep]) tell() {
	d.telling = true
	d.schedule()
}

// begin has the connector open a connection though no ask waits.
func (d *connector[Req, Rep]) begin() {
	d.wanted = true
	d.schedule()
}

func (d *connector[Req, Rep]) run() core.Yield {
	d.queued = false
	return d.tick()
}

// tick goes on: an attempt has ended, a host was looked up, or it is time.
func (d *connector[Req, Rep]) tick() core.Yield {
	now := d.Engine().Now
	for d.step(now) {
	}
	if d.telling {
		d.telling = false
		d.Unstash()
	}
	if !d.keep.Waiting() {
		core.Timer.Ask(&d.Stack, &d.keep, timerMax)
	}
	return stack.Again(&d.Stack)
}

// step makes a transition, and reports false if there is none to be made now.
func (d *connector[Req, Rep]) step(now int64) bool {
	switch d.state {
	case resting:
		if !d.pool.wants() && !(d.wanted && len(d.pool.conns) == 0) {
			d.wanted = false
			return false
		}
		d.cause, d.next = nil, 0
		d.resolve()
	case resolving:
		return false
	case trying:
		d.try(now)
		if len(d.attempts) == 0 {
			d.pool.client.stats.failed.Add(1)
			d.pause(now, d.cause)
			return true
		}
		if d.next < len(d.addresses) {
			d.setAlarm(d.nextAt - now)
		}
		return false
	case pausing:
		if now < d.until {
			d.setAlarm(d.until - now)
			return false
		}
		d.state, d.failure = resting, nil
	}
	return true
}

// setAlarm has tick called in ns, unless it will be called by an earlier alarm, of stagger at most.
func (d *connector[Req, Rep]) setAlarm(ns int64) {
	if !d.alarm.Waiting() {
		core.Timer.Ask(&d.Stack, &d.alarm, time.Duration(ns))
	}
}

// lookup is a host to be looked up.
type lookup struct {
	network, host, port string
	by                  func(ctx context.Context, host string) ([]netip.Addr, error)
}

// resolve is the transition resting -> resolving, or trying if there is nothing to look up.
func (d *connector[Req, Rep]) resolve() {
	c := &d.pool.client.config
	host, port, err := net.SplitHostPort(c.Address)
	if _, no := netip.ParseAddr(host); c.Network == "unix" || err != nil || host == "" || no == nil {
		d.addresses = append(d.addresses[:0], c.Address)
		d.state = trying
		return
	}
	d.state = resolving
	d.pool.lookUp.Insist(&d.Stack, lookup{c.Network, host, port, c.Resolve}) // one at a time
}

// found is the transition resolving -> trying.
func (d *connector[Req, Rep]) found(addresses []string, err error) {
	if d.cause = err; err == nil && len(addresses) == 0 {
		d.cause = errors.New("the host has no address")
	}
	d.state, d.addresses, d.next = trying, addresses, 0
	d.schedule()
}

// find returns the addresses of a host, in the order in which they are to be tried.
func find(ctx context.Context, l lookup) (all []string, err error) {
	if l.by == nil {
		l.by = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip"+l.network[len("tcp"):], host)
		}
	}
	found, err := l.by(ctx, l.host)
	for _, a := range found {
		all = append(all, net.JoinHostPort(a.Unmap().String(), l.port))
	}
	return all, err
}

// try begins a connection to the next address, if none is being tried or it is time, and to the one
// behind it if that fails at once.
func (d *connector[Req, Rep]) try(now int64) {
	for d.next < len(d.addresses) && (len(d.attempts) == 0 || now >= d.nextAt) {
		address := d.addresses[d.next]
		d.next++
		d.nextAt = now + int64(stagger)
		if c, err := d.pool.connect(address); err != nil {
			d.cause, d.nextAt = err, now
		} else {
			d.attempts = append(d.attempts, c)
		}
	}
}

// pause is the transition to pausing, from trying or resting: the next attempt begins the backoff
// behind since. If there is no connection, and the pause isn't over, asks that wait are answered.
func (d *connector[Req, Rep]) pause(since int64, cause error) {
	d.state, d.wanted = pausing, false
	d.failure = fmt.Errorf("%w: %w", core.ErrNotSent, cause)
	d.until = since + int64(d.backoff-d.chance(d.backoff/2))
	d.backoff = min(2*d.backoff, d.pool.client.config.BackoffMax)
	if len(d.pool.conns) == 0 && d.Engine().Now < d.until {
		d.pool.fail(d.Engine(), d.failure)
	}
	d.tell()
}

// chance returns a time below most, drawn by the clock and the worker: workers that lost their
// server together don't come back together.
func (d *connector[Req, Rep]) chance(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	const golden = 0x9e3779b97f4a7c15 // multiplying by it spreads what differs little
	drawn := (uint64(d.Engine().Now) ^ d.House().Serial()<<40) * golden >> 16
	return time.Duration(drawn % uint64(most))
}

// joined is told that an attempt has become a connection: trying -> resting.
func (d *connector[Req, Rep]) joined(c *outConn[Req, Rep]) {
	for _, other := range d.attempts {
		if other != c {
			other.end(errOther)
		}
	}
	clear(d.attempts)
	d.attempts, d.state, d.wanted = d.attempts[:0], resting, false
	p := d.pool
	p.conns = append(p.conns, c)
	p.client.stats.conns.Add(1)
	p.client.stats.connects.Add(1)
	p.send(d.Engine())
	d.tell()
}

// errOther is why an attempt is cut: another one was first.
var errOther = errors.New("channel: another address has accepted")

// failed is told that an attempt has ended.
func (d *connector[Req, Rep]) failed(c *outConn[Req, Rep], cause error) {
	if i := slices.Index(d.attempts, c); i >= 0 {
		d.attempts = slices.Delete(d.attempts, i, i+1)
		d.cause = cause
		d.nextAt = 0 // the next address needn't wait
		d.schedule()
	}
}

// left is told that a connection has ended. If it has brought no reply, the next one is opened
// after a pause; which is over if the connection has lasted as long.
func (d *connector[Req, Rep]) left(c *outConn[Req, Rep], cause error) {
	p := d.pool
	p.conns = slices.DeleteFunc(p.conns, func(other *outConn[Req, Rep]) bool { return other == c })
	p.client.stats.conns.Add(-1)
	if !c.proved && d.state == resting && cause != errIdle {
		d.pause(c.openedAt, cause)
		return
	}
	if d.state == pausing && len(p.conns) == 0 {
		p.fail(d.Engine(), d.failure)
	}
	p.lookRest()
	p.send(d.Engine())
}

// finish ends the pool's asks with its house.
func (d *connector[Req, Rep]) finish() {
	d.pool.closing = true
	d.pool.fail(d.Engine(), fmt.Errorf("%w: %w", core.ErrNotSent, core.ErrStopped))
}
