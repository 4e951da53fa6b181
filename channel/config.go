package channel

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/stack/pace"
)

// Config is the settings of a server. Network, Address and Codec are needed; the other fields may
// be zero. What the bounds are for is told under Backpressure in the package's documentation.
type Config[Req, Rep any] struct {
	Network string // "tcp", "tcp4", "tcp6" or "unix"
	Address string // host:port, or the path of a Unix socket
	// Codec makes the codec of a new connection. Listen calls it once more, to ask that codec what
	// Refuse says of ErrConnsMax.
	Codec func() Codec[Req, Rep]
	// Stages makes what stands between the socket of a new connection and its codec, the first at
	// the socket. nil: nothing does.
	Stages func() []stage.Stage
	// TLS secures the connections. It stands between Stages and codec: what belongs behind it, and
	// TLS.Server itself, can stand in Stages instead. nil: they are plain.
	TLS *secure.TLS
	// CodecFor makes the codec of a connection whose ends have agreed upon a protocol, by ALPN; "":
	// they haven't. It may not return nil: for a protocol that the TLS doesn't offer it isn't asked.
	// Codec's codec is made all the same, and replaced before it reads. nil: it stays.
	CodecFor func(protocol string) Codec[Req, Rep]

	// InflightMax is how many requests of one connection may be in flight, that is decoded and
	// without a written result. Beyond, the connection isn't read. 0: 128.
	InflightMax int
	// WorkMax is how many requests of one connection may be without a result. One more isn't
	// handled, unless it is Alone: its result is core.ErrOverloaded, so that the client learns in
	// time that there are too many; beyond InflightMax requests wait unread instead. 0: nothing is
	// refused.
	WorkMax int
	// RequestsMax is how many requests of all connections of the server may be without a result;
	// each front has an equal share, of at least one. Beyond, connections aren't read. 0: three
	// fourths of house.Config.MailboxMax, so that the fronts don't fill an actor's mailbox.
	RequestsMax int
	// ReadSize is how many bytes one read takes at most; it may not exceed pool.SlabMax. 0: 16 KiB.
	ReadSize int
	// InputMax is how many received bytes whose requests aren't answered all connections of the
	// server may hold; each front has an equal share. Beyond, requests longer than 1 KiB are read
	// one after the other, and those that come too slowly end with ErrSlowRequest. 0: 64 MiB.
	InputMax int
	// OutputMax is how many bytes of results one connection may hold, unsent or behind results that
	// are still missing. Beyond, none is encoded, no request begins, and the connection isn't read;
	// one result may exceed it. As many bytes of messages to its Peer may be unsent, and one
	// message more. 0: 128 KiB.
	OutputMax int
	// PendingMax is how many messages of Peer.Ask may wait for room in one connection. Further ones
	// get core.ErrMailboxFull. 0: 128.
	PendingMax int
	// ConnsMax is how many connections the server has at most, with those that linger for the
	// client's end (two seconds at most). One more gets what Refuse says of ErrConnsMax, and is
	// closed. 0: no limit but the descriptors.
	ConnsMax int
	// IdleTimeout is how long a connection may wait for no result, receive no part of a request and
	// send no part of a result before it is closed. 0: 10 minutes. Negative: never.
	IdleTimeout time.Duration
	// RequestTimeout is how long a request may take from its first byte to its last, plus a second
	// for every RateMin bytes of it, while the connection is read. One that takes longer ends the
	// connection with ErrSlowRequest. 0: 30 s. Negative: no limit but that of InputMax.
	RequestTimeout time.Duration
	// RateMin is the rate, in bytes a second, at which a long request must come in to be given more
	// time than RequestTimeout. 0: 1 KiB a second. Negative: no request is given more time.
	RateMin int
	// AnswerTimeout is how long a request may be handled, once it has come in: the deadline of its
	// stack, which what it asks inherits. So asks, timers and functions end by then, and the
	// handler, which gets core.ErrTimeout from them, says what the client is told; one that hasn't
	// begun ends with core.ErrTimeout. What a part of a result waits for is bounded by WriteTimeout.
	// 0 or negative: no deadline; each ask has its own.
	AnswerTimeout time.Duration
	// WriteTimeout closes a connection whose client took no byte of a pending result for so long,
	// up to a fourth more. Except on Linux it watches the socket, which takes megabytes at a time:
	// a short timeout closes clients that are only slow. 0: 30 s. Negative: never.
	WriteTimeout time.Duration
	// KeepAlive is how long a TCP client's system may be silent before it is probed. Three probes
	// without an answer, or bytes unacknowledged for four times KeepAlive (WriteTimeout if that is
	// longer), end the connection. 0: 15 s. Negative: no probes.
	KeepAlive time.Duration
	// SocketMode is the file mode of a Unix socket's path. 0: as the process's umask has it.
	SocketMode fs.FileMode
}

const never = time.Duration(1<<63 - 1)

func (c Config[Req, Rep]) validate() (Config[Req, Rep], error) {
	if c.Codec == nil {
		return c, errors.New("channel: Config.Codec is missing")
	}
	err := errors.Join(
		fillSize("Config.InflightMax", &c.InflightMax, 128),
		fillSize("Config.WorkMax", &c.WorkMax, 1<<31-1),
		fillSize("Config.RequestsMax", &c.RequestsMax, 0),
		fillSize("Config.ReadSize", &c.ReadSize, 16<<10),
		fillSize("Config.InputMax", &c.InputMax, 64<<20),
		fillSize("Config.OutputMax", &c.OutputMax, 128<<10),
		fillSize("Config.PendingMax", &c.PendingMax, 128),
		fillSize("Config.ConnsMax", &c.ConnsMax, 1<<31-1),
	)
	if c.ReadSize > readMax {
		err = errors.Join(err, fmt.Errorf("channel: Config.ReadSize is above %d", readMax))
	}
	fillTime(&c.IdleTimeout, 10*time.Minute)
	fillTime(&c.RequestTimeout, 30*time.Second)
	fillTime(&c.AnswerTimeout, never)
	fillTime(&c.WriteTimeout, 30*time.Second)
	fillTime(&c.KeepAlive, 15*time.Second)
	if c.RateMin == 0 {
		c.RateMin = 1 << 10
	}
	return c, err
}

// fillSize gives a bound that is zero its default. A negative one is refused.
func fillSize(name string, value *int, zero int) error {
	if *value < 0 {
		return fmt.Errorf("channel: %s is negative", name)
	}
	if *value == 0 {
		*value = zero
	}
	return nil
}

// fillTime gives a timeout that is zero its default. A negative one never ends.
func fillTime(value *time.Duration, zero time.Duration) {
	if *value == 0 {
		*value = zero
	}
	if *value < 0 {
		*value = never
	}
}

// probing returns netio.ListenOptions.KeepAlive and AckTimeout for a KeepAlive and a WriteTimeout.
func probing(keepAlive, write time.Duration) (probe, ack time.Duration) {
	switch {
	case keepAlive == never:
		return 0, 0
	case write == never:
		return keepAlive, 0
	}
	return keepAlive, max(4*min(keepAlive, time.Hour), write)
}

// deadline returns that of a request which comes in now, both in ns; 0: it has none.
func (c *Config[Req, Rep]) deadline(now int64) int64 {
	if c.AnswerTimeout == never {
		return 0
	}
	return pace.Later(now, int64(c.AnswerTimeout))
}

// requestTimeout is how long a request may take of which n bytes have come.
func (c *Config[Req, Rep]) requestTimeout(n int) time.Duration {
	if c.RateMin < 0 {
		return c.RequestTimeout
	}
	return c.RequestTimeout + min(never-c.RequestTimeout, time.Duration(n)*time.Second/time.Duration(c.RateMin))
}
