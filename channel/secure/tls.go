package secure

import (
	"cmp"
	"crypto/tls"
	"errors"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/stage"
)

// Why connections end.
var (
	// ErrTruncated is the error of a connection whose other end has gone without a word: what came
	// may have been cut short by somebody else. An end in order is announced.
	ErrTruncated = errors.New("secure: the connection ended without close_notify")
	// ErrHandshakeTime is the error of a handshake that wasn't over in time.
	ErrHandshakeTime = errors.New("secure: the handshake took too long")
	// ErrHandshakeSize is the error of a handshake for which the other end sent too many bytes.
	ErrHandshakeSize = errors.New("secure: the handshake is too long")
	// ErrPanic is the error of a handshake in which a function of the tls.Config has panicked.
	ErrPanic = errors.New("secure: panic in a handshake")
	// ErrHandshakeRoom is the error of a handshake that had to go for others, see the package.
	ErrHandshakeRoom = errors.New("secure: too many handshakes, and this one waited for its other end")
)

// TLS is the certificates and rules by which connections are secured, and the room for their
// handshakes. New makes it. Servers and clients may share it. All methods may be called by any
// goroutine.
type TLS struct {
	config atomic.Pointer[tls.Config]
	limits Limits
	gate   gate
	counts counts
}

// Limits bounds the handshakes of a TLS.
type Limits struct {
	// Running is how many run at once, each on a goroutine. 0: 64.
	Running int
	// RunningOfOne is how many of those may be of one address of clients, or of one network of
	// version 6, /64; all clients on Unix sockets count as one. 0: 8. A client that has many
	// handshakes begin, and then goes through one after the other, or clients behind a proxy that
	// doesn't say whose they are, need more.
	RunningOfOne int
	// Patience is for how long one may wait for the other end's bytes though others want its
	// goroutine. 0: 100 ms.
	Patience time.Duration
	// Time is how long one may take, with what it waits for. 0: 2 s.
	Time time.Duration
	// Size is how many bytes the other end may send for it, about. 0: 16 KiB.
	Size int
}

// withDefaults returns l with its defaults.
func (l Limits) withDefaults() Limits {
	return Limits{
		Running:      cmp.Or(max(0, l.Running), 64),
		RunningOfOne: cmp.Or(max(0, l.RunningOfOne), 8),
		Patience:     cmp.Or(max(0, l.Patience), 100*time.Millisecond),
		Time:         cmp.Or(max(0, l.Time), 2*time.Second),
		Size:         cmp.Or(max(0, l.Size), 16<<10),
	}
}

// counts is what a TLS has counted.
type counts struct{ done, failed, replaced atomic.Uint64 }

// Stats is what a TLS has counted.
type Stats struct {
	Running, Waiting int    // handshakes: on goroutines, and for a goroutine
	Done, Failed     uint64 // handshakes that have had a goroutine
	Replaced         uint64 // those of Failed that had to go for others
}

// New returns a TLS by config, which must not be changed any more. What that says is crypto/tls's:
// certificates by name, protocols, tickets, who is believed; but renegotiation is refused. Its
// functions are called on goroutines that may block, so they may ask actors: where a goroutine is
// held up for longer than a handshake may take, others wait for it. Only its ClientSessionCache
// must not block: tickets come behind the handshake, in turns of workers.
func New(config *tls.Config) *TLS { return NewWith(config, Limits{}) }

// NewWith is New with other limits.
func NewWith(config *tls.Config, l Limits) *TLS {
	t := &TLS{limits: l.withDefaults()}
	t.gate.limits = &t.limits
	t.Set(config)
	return t
}

// Set has handshakes that begin from now on go by another config: by new certificates, say, or
// other roots. Nothing of the former one stays, its functions neither. Connections that stand go
// on. A client's session isn't resumed by another config
// unless both have the same keys, see [tls.Config.SetSessionTicketKeys].
func (t *TLS) Set(config *tls.Config) {
	if config == nil {
		panic("secure: TLS without a Config")
	}
	if config.Renegotiation != tls.RenegotiateNever {
		config = config.Clone()
		config.Renegotiation = tls.RenegotiateNever
	}
	t.config.Store(config)
}

// CanServe returns an error if no server can be secured by t: for want of a certificate, or of a
// function that finds one.
func (t *TLS) CanServe() error {
	switch c := t.config.Load(); {
	case c == nil:
		return errors.New("secure: a TLS that New hasn't made")
	case len(c.Certificates) == 0 && c.GetCertificate == nil && c.GetConfigForClient == nil:
		return errors.New("secure: a server's TLS has no certificate")
	}
	return nil
}

// Stats returns what t has counted.
func (t *TLS) Stats() Stats {
	running, waiting := t.gate.len()
	return Stats{running, waiting, t.counts.done.Load(), t.counts.failed.Load(), t.counts.replaced.Load()}
}

// Server returns a Stage of a server. It stands behind those that see what the network does, such
// as [stage.Proxied].
func (t *TLS) Server() stage.Stage { return &session{by: t} }

// Client returns a Stage of a client that has dialled a host, whose name the server's certificate
// must have, unless the config says otherwise.
func (t *TLS) Client(host string) stage.Stage {
	return &session{by: t, host: host, client: true}
}
