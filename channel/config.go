package channel

import (
	"errors"
	"fmt"
	"time"
)

// Config is the settings of a server. Network, Address and Codec are needed;
// the zero of the others is a good value.
type Config[Req, Rep any] struct {
	Network string // "tcp", "tcp4", "tcp6" or "unix"
	Address string // host:port, or a path
	// Codec makes the codec of a new connection.
	Codec func() Codec[Req, Rep]

	// InflightMax is how many requests of one connection may wait for a result, or
	// to be encoded; beyond, the connection isn't read. It bounds what a connection
	// may hold: each has its bytes, and its result if that is there. 0: 128.
	InflightMax int
	// WorkMax is how many requests of one connection may wait for their handlers to begin and end; one more is refused at
	// once: its result is core.ErrOverloaded, in its turn. Unlike InflightMax, beyond which requests wait unread and grow
	// old, it has clients hear in time that there are too many. 0: nothing is refused.
	WorkMax int
	// ReadSize is the bytes of a read, at most pool.SlabMax. 0: 16 KiB.
	ReadSize int
	// OutputMax is the bytes of unsent results of one connection beyond which no
	// more are encoded and the connection isn't read; one result may exceed it.
	// 0: 128 KiB.
	OutputMax int
	// ConnsMax is how many connections the server has at most; beyond, a new one
	// is closed at once. 0: no limit but the descriptors.
	ConnsMax int
	// IdleTimeout closes a connection on which no byte came in, and no result went
	// out, for so long, and that waits for none. 0: 10 minutes. Negative: never.
	IdleTimeout time.Duration
	// WriteTimeout closes a connection whose socket took no byte of a pending
	// result for so long. The kernel buffers some megabytes and asks for more in
	// large steps: a short timeout is hard on slow clients that are alive. 0:
	// 30 s. Negative: never.
	WriteTimeout time.Duration
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
	}{{"InflightMax", &c.InflightMax, 128}, {"WorkMax", &c.WorkMax, 1<<31 - 1}, {"ReadSize", &c.ReadSize, 16 << 10}, {"OutputMax", &c.OutputMax, 128 << 10}, {"ConnsMax", &c.ConnsMax, 1<<31 - 1}} {
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
	orDuration(&c.WriteTimeout, 30*time.Second)
	return c, nil
}
