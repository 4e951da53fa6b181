package housetest

import "io"

// Peer is a scripted end of a connection in a simulation: what the other end of a server's
// connection does is what the test calls. Its methods don't wait, and nothing moves but in turns of
// the Sim.
type Peer struct{ e *end }

// Dial begins a connection to a server that listens at address.
func (n *Network) Dial(address string) *Peer { return &Peer{n.connect(address)} }

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
