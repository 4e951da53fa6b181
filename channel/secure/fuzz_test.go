package secure_test

import (
	"bytes"
	"crypto/tls"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/internal/certs"
)

// garbler spoils a byte of all that goes from one end to the other, or puts more before it.
type garbler struct {
	at   int // the byte; counted down
	xor  byte
	more []byte
}

func (g *garbler) pass(p []byte) []byte {
	if g.at < 0 || g.at >= len(p) {
		g.at -= len(p)
		return p
	}
	p = bytes.Clone(p)
	p[g.at] ^= g.xor
	p = append(append(p[:g.at:g.at], g.more...), p[g.at:]...)
	g.at = -1
	return p
}

// FuzzHandshake: whatever comes at whatever stage of a handshake, or behind it, ends in an error or
// in nothing, and leaves nothing.
func FuzzHandshake(f *testing.F) {
	for i := range uint16(8) {
		f.Add(i%2 == 0, i%4 < 2, 40*i, byte(1<<i), []byte(nil), uint8(0))
		f.Add(i%2 == 0, i%4 < 2, 300*i, byte(0), []byte{21, 3, 3, 0, 2, 2, 40}, uint8(i))
	}
	ca, err := certs.NewCA()
	if err != nil {
		f.Fatal(err)
	}
	cert, err := ca.Issue([]string{"a.test"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, old, toServer bool, at uint16, xor byte, more []byte, piece uint8) {
		config := &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: ca.Pool(), ClientCAs: ca.Pool(), ClientAuth: tls.RequireAndVerifyClientCert}
		if old {
			config.MaxVersion = tls.VersionTLS12
		}
		by := secure.New(config)
		c, s := newEnd("127.0.0.1:1", by.Client("a.test")), newEnd("127.0.0.1:2", by.Server())
		up, down := garbler{at: -1}, garbler{at: -1}
		if toServer {
			up = garbler{int(at) % 4000, xor, more}
		} else {
			down = garbler{int(at) % 4000, xor, more}
		}
		pass := func() {
			for len(c.down)+len(s.down) > 0 {
				s.receives(up.pass(c.sent()), int(piece))
				c.receives(down.pass(s.sent()), int(piece))
			}
		}
		said := false
		for quiet := 0; quiet < 3; {
			pass()
			if c.isOpen() && s.isOpen() && !said {
				said = true
				c.Send(1, []byte("hello"))
				s.Send(1, []byte("hello"))
				continue
			}
			select {
			case <-c.wakes:
				c.Wake(1)
			case <-s.wakes:
				s.Wake(1)
			case <-time.After(time.Millisecond):
				quiet++
			}
		}
		for _, e := range []*end{c, s} {
			if e.Err() == nil && !e.Ended() && len(e.up) > 0 && string(e.up) != "hello" {
				t.Errorf("%q came up", e.up)
			}
			e.Close(1)
		}
		until(t, func() bool { return by.Stats().Running+by.Stats().Waiting == 0 })
	})
}
