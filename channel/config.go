package channel

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Config is the settings of a server. Network, Address and Codec are needed;
// the zero of the others is a good value.
type Config[Req, Rep any] struct {
	Network string // "tcp", "tcp4", "tcp6" or "unix"
	Address string // host:port, or a path
	// Codec makes the codec of a new connection. Listen calls it once, too, for the text of
	// ErrConnsMax.
	Codec func() Codec[Req, Rep]

	// InflightMax is how many requests of one connection may wait for a result, or
	// to be encoded; beyond, the connection isn't read. It bounds what a connection
	// may hold: each has its bytes, and its result if that is there. 0: 128.
	InflightMax int
	// WorkMax is how many requests of one connection may wait for their handlers to begin and end;
	// one more is refused at once: its result is core.ErrOverloaded, in its turn. Unlike
	// InflightMax, beyond which requests wait unread and grow old, it tells clients in time that
	// there are too many. 0: nothing is refused.
	WorkMax int
	// RequestsMax is how many requests of all connections of the server wait for their results at
	// most; each front has an equal share, of at least one. Beyond, connections aren't read, and go
	// on in order; but a request that goes on behind a part of its result waits for no other. Where
	// fronts ask an actor whose mailbox has another bound than the system's usual one, set this to
	// match: then no request is refused for a full mailbox. 0: three fourths of that bound,
	// house.Config.MailboxMax.
	RequestsMax int
	// ReadSize is the bytes of a read, at most pool.SlabMax. 0: 16 KiB.
	ReadSize int
	// InputMax is how many bytes all connections of the server may have sent that aren't answered
	// yet; each front has an equal share. Beyond, small requests are still read, 1 KiB at a time,
	// and longer ones one after the other. A longer one has only RequestTimeout to come in then,
	// and 32 KiB of it must come in a second while others wait, or it is ErrSlowRequest. 0: 64 MiB.
	// Where codecs are Gated, strangers have an eighth of that more.
	InputMax int
	// OutputMax is how many bytes of results one connection may have, unsent or waiting for their
	// turn. Beyond, no more are encoded, no request begins, and the connection isn't read; one
	// result may exceed it. 0: 128 KiB.
	OutputMax int
	// ConnsMax is how many connections the server has at most; beyond, a new one gets what the
	// codec's Refuse says of ErrConnsMax, and is closed at once. Connections that linger for their
	// clients' ends, two seconds at most, count too. 0: no limit but the descriptors.
	ConnsMax int
	// IdleTimeout closes a connection that waits for no result, and on which no part of a request
	// came in and no result went out for so long. 0: 10 minutes. Negative: never.
	IdleTimeout time.Duration
	// RequestTimeout is how long a request may take from its first byte to its last, plus a second
	// for every RateMin bytes of it unless InputMax is used up, while the connection is read. After
	// that the client gets what the codec's Refuse says of ErrSlowRequest, behind the results in
	// flight, and the connection is closed. 0: 30 s. Negative: no limit but InputMax's.
	RequestTimeout time.Duration
	// RateMin is how many bytes of a long request must come in a second. 0: 1 KiB. Negative: a
	// long one has no more time than others.
	RateMin int
	// WriteTimeout closes a connection whose client took no byte of a pending result for so long,
	// up to a fourth more. Only Linux tells what a client took. Elsewhere it is the socket that
	// took none: a kernel buffers some megabytes and asks for more in large steps, so that a
	// short timeout is hard on slow clients that are alive. 0: 30 s. Negative: never.
	WriteTimeout time.Duration
	// KeepAlive is for how long a client's system may be silent before it is asked for a sign of
	// life; it is given up after three questions without an answer. So is a client that leaves
	// bytes unacknowledged for four times as long, or for WriteTimeout if that is longer. TCP only.
	// 0: 15 s. Negative: never asked.
	KeepAlive time.Duration
	// SocketMode is the file mode of a Unix socket's path. 0: as the process's umask has it.
	SocketMode fs.FileMode
}

const never = time.Duration(1<<63 - 1)

func (c Config[Req, Rep]) validate() (Config[Req, Rep], error) {
	if c.Codec == nil {
		return c, errors.New("channel: Config.Codec is missing")
	}
	for _, f := range []struct {
		name  string
		value *int
		zero  int
	}{{"InflightMax", &c.InflightMax, 128}, {"WorkMax", &c.WorkMax, 1<<31 - 1}, {"RequestsMax", &c.RequestsMax, 0}, {"ReadSize", &c.ReadSize, 16 << 10}, {"InputMax", &c.InputMax, 64 << 20}, {"OutputMax", &c.OutputMax, 128 << 10}, {"ConnsMax", &c.ConnsMax, 1<<31 - 1}} {
		if *f.value < 0 {
			return c, fmt.Errorf("channel: Config.%s is negative", f.name)
		}
		if *f.value == 0 {
			*f.value = f.zero
		}
	}
	if c.ReadSize > readMax {
		return c, fmt.Errorf("channel: Config.ReadSize is above %d", readMax)
	}
	orDuration := func(d *time.Duration, zero time.Duration) {
		if *d == 0 {
			*d = zero
		}
		if *d < 0 {
			*d = never
		}
	}
	orDuration(&c.IdleTimeout, 10*time.Minute)
	orDuration(&c.RequestTimeout, 30*time.Second)
	orDuration(&c.WriteTimeout, 30*time.Second)
	orDuration(&c.KeepAlive, 15*time.Second)
	if c.RateMin == 0 {
		c.RateMin = 1 << 10
	}
	return c, nil
}

// requestTimeout is how long a request may take that has n bytes so far.
func (c *Config[Req, Rep]) requestTimeout(n int) time.Duration {
	if c.RateMin < 0 {
		return c.RequestTimeout
	}
	return c.RequestTimeout + min(never-c.RequestTimeout, time.Duration(n)*time.Second/time.Duration(c.RateMin))
}
