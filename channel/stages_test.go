package channel_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// cipher is a Stage that writes every byte in another way, and says "bye" at the end.
type cipher struct{ out, in [64]byte }

func (c *cipher) Receive(f *stage.Flow, p []byte) error {
	pass(&c.in, p, f.Up)
	return nil
}

func (c *cipher) ReceiveEnd(*stage.Flow) error { return nil }

func (c *cipher) Send(f *stage.Flow, p []byte) error {
	pass(&c.out, p, f.Down)
	return nil
}

func (c *cipher) SendEnd(f *stage.Flow) error {
	f.Down([]byte("bye"))
	return nil
}

func pass(by *[64]byte, p []byte, to func([]byte)) {
	for len(p) > 0 {
		n := copy(by[:], p)
		for i := range n {
			by[i] ^= 0x80
		}
		to(by[:n])
		p = p[n:]
	}
}

func ciphers() []stage.Stage { return []stage.Stage{&cipher{}, &cipher{}, &cipher{}} }

func ciphered(s string) []byte {
	b := []byte(s)
	for i := range b {
		b[i] ^= 0x80
	}
	return b
}

func TestStagesOfBothSides(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.Stages = ciphers })
		client := w.dialClient(func(c *clientConfig) { c.Stages = ciphers })
		for _, size := range []int{1, 1000, 300_000} {
			line := "x" + strings.Repeat("y", size)
			text, err := get(w.ctx, client.Port(), line)
			require.NoError(t, err)
			require.Equal(t, line, text)
		}
		require.NoError(t, client.Close(w.ctx))

		raw, err := net.Dial(p.network, w.server.Addr())
		require.NoError(t, err)
		defer raw.Close()
		_, err = raw.Write(ciphered("last x\n"))
		require.NoError(t, err)
		came, err := io.ReadAll(raw)
		require.NoError(t, err)
		require.Equal(t, string(ciphered("x\n"))+"bye"+string(ciphered("bye"))+"bye", string(came),
			"the last words of three stages: those of the second pass the first, those of the third both")
	})
}

// scripted is a Stage that does what its test says.
type scripted struct {
	receive func(f *stage.Flow, p []byte) error
	send    func(f *stage.Flow, p []byte) error
	tick    func(f *stage.Flow) error
	open    func(f *stage.Flow) error
}

func (s *scripted) Receive(f *stage.Flow, p []byte) error {
	if s.receive != nil {
		return s.receive(f, p)
	}
	f.Up(p)
	return nil
}

func (s *scripted) ReceiveEnd(*stage.Flow) error { return nil }

func (s *scripted) Send(f *stage.Flow, p []byte) error {
	if s.send != nil {
		return s.send(f, p)
	}
	f.Down(p)
	return nil
}

func (s *scripted) SendEnd(*stage.Flow) error { return nil }

func (s *scripted) Tick(f *stage.Flow) error { return s.tick(f) }

func (s *scripted) Open(f *stage.Flow) error {
	if s.open != nil {
		return s.open(f)
	}
	return nil
}

// stagedServer is a server in a simulation, and a client of it that the test moves.
type stagedServer struct {
	testing.TB
	sim    *housetest.Sim
	server *server
	peer   *housetest.Peer
}

func newStagedServer(t *testing.T, stages func() []stage.Stage) *stagedServer {
	s := &stagedServer{TB: t, sim: housetest.New(t, 1, house.Config{Workers: 1})}
	at := core.Spawn(s.sim.Workers()[0], func() *front { return &front{} })
	var err error
	s.server, err = channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec, ReadSize: 100, Stages: stages}, serve, at)
	require.NoError(t, err)
	s.dial()
	t.Cleanup(func() { require.NoError(t, s.server.Close(context.Background())) })
	return s
}

func (s *stagedServer) dial() {
	s.peer = s.sim.Net.Dial(s.server.Addr())
	s.sim.Run(time.Millisecond)
}

// say has the client send text, and returns what came back in d.
func (s *stagedServer) say(text string, d time.Duration) string {
	s.Helper()
	require.Equal(s, len(text), s.peer.Write([]byte(text)))
	return s.hear(d)
}

func (s *stagedServer) hear(d time.Duration) string {
	s.Helper()
	s.sim.Run(d)
	return string(s.peer.Read(1 << 20))
}

func one(s stage.Stage) func() []stage.Stage { return func() []stage.Stage { return []stage.Stage{s} } }

func TestFailingStage(t *testing.T) {
	alert := func(f *stage.Flow, p []byte) error {
		if before, _, found := bytes.Cut(p, []byte("!")); found {
			f.Up(before)
			f.Down([]byte("alert"))
			return errors.New("!")
		}
		f.Up(p)
		return nil
	}
	for _, way := range []string{"receive", "open", "send", "tick"} {
		t.Run(way, func(t *testing.T) {
			s := newStagedServer(t, func() []stage.Stage {
				fail := func(f *stage.Flow) error { return alert(f, []byte("!")) }
				by := &scripted{tick: fail}
				switch way {
				case "receive":
					by.receive = alert
				case "open":
					by.open = fail
				case "send":
					by.send = func(f *stage.Flow, p []byte) error { return fail(f) }
				case "tick":
					by.open = func(f *stage.Flow) error {
						f.Alarm(time.Second)
						return nil
					}
				}
				return []stage.Stage{by}
			})
			if way == "receive" || way == "tick" {
				require.Equal(t, "xx\n", s.say("xx\nnever\n", time.Millisecond))
			}
			if way != "open" {
				s.peer.Write([]byte("!"))
				s.peer.Write([]byte("x\n"))
			}
			require.Equal(t, "alert", s.hear(2*time.Second), "what is handed down before the error is sent, nothing else")
			require.ErrorIs(t, s.peer.Err(), io.EOF)
			require.EqualValues(t, 1, s.server.Stats().StageFailures)
			s.peer.Close()
			s.sim.Run(time.Second)
			require.Zero(t, s.server.Stats().Conns)
		})
	}
}

func TestPanickingStage(t *testing.T) {
	crash := func() { panic("a stage") }
	for _, way := range []string{"made", "open", "receive", "send", "tick"} {
		t.Run(way, func(t *testing.T) {
			bad := false
			s := newStagedServer(t, func() []stage.Stage {
				by := &scripted{}
				if !bad {
					return []stage.Stage{by}
				}
				bad = false
				switch way {
				case "made":
					crash()
				case "open":
					by.open = func(*stage.Flow) error { crash(); return nil }
				case "receive":
					by.receive = func(*stage.Flow, []byte) error { crash(); return nil }
				case "send":
					by.send = func(*stage.Flow, []byte) error { crash(); return nil }
				case "tick":
					by.tick = func(*stage.Flow) error { crash(); return nil }
					by.open = func(f *stage.Flow) error {
						f.Alarm(time.Second)
						return nil
					}
				}
				return []stage.Stage{by}
			})
			good := s.peer
			bad = true
			s.dial()
			s.peer.Write([]byte("x\n"))
			s.sim.Run(2 * time.Second)
			s.peer.Read(10)
			require.Error(t, s.peer.Err(), "the connection ends")
			s.peer = good
			require.Equal(t, "x\n", s.say("x\n", time.Millisecond), "and no other")
		})
	}
}

func TestStageHolds(t *testing.T) {
	var tick func(*stage.Flow) error
	s := newStagedServer(t, func() []stage.Stage {
		return []stage.Stage{&scripted{
			open: func(f *stage.Flow) error {
				f.HoldSending(true)
				f.Alarm(time.Second)
				return nil
			},
			tick: func(f *stage.Flow) error { return tick(f) },
		}}
	})
	tick = func(f *stage.Flow) error {
		f.HoldSending(false)
		f.HoldReading(true)
		f.Alarm(time.Second)
		return nil
	}
	require.Empty(t, s.say("a\nb\n", 900*time.Millisecond), "sending is held")
	s.sim.Now += int64(50 * time.Millisecond)
	for turns := 0; s.sim.Workers()[0].Turn(); turns++ {
		require.Less(t, turns, 100, "a held connection doesn't rest")
	}
	require.Equal(t, "a\nb\n", s.hear(100*time.Millisecond))

	tick = func(f *stage.Flow) error {
		f.HoldReading(false)
		return nil
	}
	require.Empty(t, s.say("c\n", 800*time.Millisecond), "reading is held")
	require.Equal(t, "c\n", s.hear(300*time.Millisecond))
}

// TestStageHoldsFullOutput: results up to OutputMax wait behind a stage that holds, and what is
// behind them isn't read.
func TestStageHoldsFullOutput(t *testing.T) {
	s := newStagedServer(t, one(&scripted{
		open: func(f *stage.Flow) error {
			f.HoldSending(true)
			f.Alarm(20 * time.Second)
			return nil
		},
		tick: func(f *stage.Flow) error {
			f.HoldSending(false)
			return nil
		},
	}))
	want := ""
	for range 100 {
		s.peer.Write([]byte("big 5000\n"))
		want += big(5000) + "\n"
	}
	s.sim.Run(time.Second)
	for turns := 0; s.sim.Workers()[0].Turn(); turns++ {
		require.Less(t, turns, 100, "a held connection doesn't rest")
	}
	got := ""
	for range 200 {
		got += s.hear(time.Second)
	}
	require.Equal(t, want, got)
}

func TestIdleStage(t *testing.T) {
	s := newStagedServer(t, one(stage.Idle(time.Minute)))
	for range 5 {
		require.Equal(t, "x\n", s.say("x\n", 50*time.Second))
	}
	s.sim.Run(20 * time.Second)
	require.ErrorIs(t, s.peer.Err(), io.EOF)
	require.Zero(t, s.server.Stats().StageFailures)
}

func TestRateStage(t *testing.T) {
	s := newStagedServer(t, one(stage.Rate(100, 1000)))
	line := strings.Repeat("x", 99) + "\n"
	began, got := s.sim.Now, 0
	for sent := 0; got < 5000; {
		if sent < 5000 {
			sent += s.peer.Write([]byte(line))
		}
		got += len(s.hear(100 * time.Millisecond))
	}
	seconds := time.Duration(s.sim.Now - began).Seconds()
	require.InDelta(t, 40, seconds, 10, "4,000 bytes beyond the burst")
}

// TestClosingStageOfClient: a client whose stage closes it loses what is in flight, and connects
// again.
func TestClosingStageOfClient(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, nil)
	client := w.dialClient(func(c *clientConfig) {
		c.Stages = func() []stage.Stage {
			return []stage.Stage{&scripted{send: func(f *stage.Flow, b []byte) error {
				if bytes.HasPrefix(b, []byte("never")) {
					f.Close()
				}
				f.Down(b)
				return nil
			}}}
		}
	})
	for range 2 {
		text, err := get(w.ctx, client.Port(), "x")
		require.NoError(t, err)
		require.Equal(t, "x", text)
		_, err = get(w.ctx, client.Port(), "never")
		require.ErrorIs(t, err, core.ErrLost)
	}
}
