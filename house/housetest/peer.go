package housetest

import (
	"io"
	"slices"
)

// Peer is a scripted end of a connection in a simulation: what the other end of a server's or a
// client's connection does is what the test calls. Its methods don't wait, and nothing moves but in
// turns of the Sim.
type Peer struct{ e *end }

// Door is a scripted server in a simulation: it has the connections that come to one address. Its
// methods don't wait.
type Door struct {
	net *Network
	l   *listener
}

// Serve opens a scripted server at address. It panics if there is a server.
func (n *Network) Serve(address string) *Door {
	if n.ports[address] != nil {
		panic("housetest: there is a server at " + address)
	}
	l := &listener{address: address}
	n.ports[address] = l
	return &Door{n, l}
}

// Accept returns the connection that has waited longest; nil: none waits.
func (d *Door) Accept() *Peer {
	if len(d.l.waiting) == 0 {
		return nil
	}
	e := d.l.waiting[0]
	d.l.waiting = slices.Delete(d.l.waiting, 0, 1)
	return &Peer{e}
}

// Close ends the server. Connections that wait break; those that were accepted stay.
func (d *Door) Close() { d.net.unlisten(d.l) }

// Dial begins a connection to a server that listens at address.
func (n *Network) Dial(address string) *Peer { return &Peer{n.connect(nil, address)} }

// Write sends b, and returns how many of its bytes there was room for: 0 also while the connection
// doesn't stand yet, or once it is over.
func (p *Peer) Write(b []byte) (n int) {
	n, _ = p.e.write(b)
	return n
}

// Read returns what has arrived since the last Read, most bytes at most.
func (p *Peer) Read(most int) []byte {
	b := make([]byte, min(most, len(p.e.in)))
	n, _ := p.e.read(b)
	return b[:n]
}

// Connected reports whether the connection stands, or has stood.
func (p *Peer) Connected() bool { return p.e.joined }

// Err returns how the other end's side has ended, once all that came before is read: io.EOF, or why
// the connection broke. nil: it goes on.
func (p *Peer) Err() error {
	switch e := p.e; {
	case len(e.in) > 0:
		return nil
	case e.broken != nil:
		return e.broken
	case e.eof:
		return io.EOF
	}
	return nil
}

// End ends the peer's side: the other end reads to the end, and may go on writing.
func (p *Peer) End() { p.e.finish() }

// Close closes the connection. What arrives from now on makes it break at the other end.
func (p *Peer) Close() { p.e.close() }

// Reset breaks the connection.
func (p *Peer) Reset() { p.e.reset() }
