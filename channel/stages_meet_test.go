package channel_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/stage"
)

// TestUpgradeThatFailedIsForgotten: a later request, whose stack is the one that failed, upgrades
// nothing.
func TestUpgradeThatFailedIsForgotten(t *testing.T) {
	sim, server, _, _ := newHost(t, 1, nil)
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	require.Equal(t, "-no frames\n", s.say("failing x\n", time.Millisecond))
	for range 3 {
		require.Equal(t, "a\n", s.say("a\n", time.Millisecond))
	}
	require.NoError(t, server.Close(context.Background()))
}

// TestUpgradeThroughAFullSocket: stages hear of no end while the result that upgrades waits for the
// client.
func TestUpgradeThroughAFullSocket(t *testing.T) {
	sim, server, _, _ := newHost(t, 1, func(c *config) { c.Stages = func() []stage.Stage { return []stage.Stage{&cipher{}} } })
	sim.Net.Faults.Window = 100
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	text := strings.Repeat("y", 1000)
	got := ""
	for rest := ciphered("frames " + text + "\n"); len(rest) > 0; {
		rest = rest[s.peer.Write(rest):]
		s.sim.Run(time.Millisecond)
	}
	for range 30 {
		got += s.hear(time.Millisecond)
	}
	require.Equal(t, string(ciphered(text+"\n")), got)
	require.Equal(t, string(ciphered(framed("one"))), s.say(string(ciphered(framed("one"))), time.Millisecond))
	require.NoError(t, server.Close(context.Background()))
}

// TestUpgradeBehindTheEndOfAStage: what the connection becomes ends, too.
func TestUpgradeBehindTheEndOfAStage(t *testing.T) {
	sim, server, _, _ := newHost(t, 1, func(c *config) {
		c.Stages = func() []stage.Stage {
			return []stage.Stage{&scripted{receive: func(f *stage.Flow, p []byte) error {
				before, _, ended := bytes.Cut(p, []byte("!"))
				f.Up(before)
				if ended {
					return io.EOF
				}
				return nil
			}}}
		}
	})
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	require.Equal(t, "yes\n", s.say("frames yes\n!", time.Millisecond))
	s.sim.Run(time.Second)
	require.Equal(t, io.EOF, s.peer.Err())
	require.NoError(t, server.Close(context.Background()))
}

// TestEndBehindAsks: what waits for room when this side is to end is sent, though a result in parts
// comes meanwhile, which is dropped.
func TestEndBehindAsks(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax = 1000 }, func(t *testing.T, s *study) {
		p := s.dial()
		s.Net.Faults.Window = 100
		text := strings.Repeat("m", 1099)
		call := s.begin(text + " !b /end")
		p.Write([]byte("two a\n"))
		s.Run(time.Millisecond)
		s.Net.Faults.Window = 0
		require.Equal(t, text+"\nb\n", s.read(p, 1102))
		s.Run(20 * time.Millisecond)
		require.Equal(t, io.EOF, p.Err())
		s.ends(call, nil, nil, nil)
		p.Close()
	})
}

// sluice is a Stage that lets the socket take something once in a while.
type sluice struct{}

func (sluice) Moved(f *stage.Flow, _, sent int) {
	if sent > 0 {
		f.HoldSending(true)
		f.Alarm(10 * time.Millisecond)
	}
}

func (sluice) Tick(f *stage.Flow) error {
	f.HoldSending(false)
	return nil
}

// TestStageHoldsWhatItMeters: a stage may hold, and set an alarm, when it hears that something was
// sent.
func TestStageHoldsWhatItMeters(t *testing.T) {
	s := newStagedServer(t, one(sluice{}))
	got := s.say("big 300000\n", time.Millisecond)
	for range 100 {
		got += s.hear(100 * time.Millisecond)
	}
	require.Len(t, got, 300_001)
}

// TestIdleStageBesideOneThatHolds: results that a stage holds don't keep the connection.
func TestIdleStageBesideOneThatHolds(t *testing.T) {
	hold := &scripted{open: func(f *stage.Flow) error {
		f.HoldSending(true)
		return nil
	}}
	s := newStagedServer(t, func() []stage.Stage { return []stage.Stage{stage.Idle(time.Minute), hold} })
	require.Empty(t, s.say("a\n", time.Millisecond))
	s.sim.Run(5 * time.Minute)
	require.Zero(t, s.server.Stats().Conns)
}

// TestGoneBehindAStageThatHolds: nor when the client has gone.
func TestGoneBehindAStageThatHolds(t *testing.T) {
	s := newStagedServer(t, one(&scripted{open: func(f *stage.Flow) error {
		f.HoldSending(true)
		return nil
	}}))
	require.Empty(t, s.say("a\n", time.Millisecond))
	s.peer.Close()
	s.sim.Run(time.Hour) // all of a server's timeouts are shorter
	require.Zero(t, s.server.Stats().Conns)
}

func heldReading(d time.Duration) func() []stage.Stage {
	return one(&scripted{
		open: func(f *stage.Flow) error {
			f.HoldReading(true)
			f.Alarm(d)
			return nil
		},
		tick: func(f *stage.Flow) error {
			f.HoldReading(false)
			return nil
		},
	})
}

// TestDrainWhileAStageHolds: what had arrived is answered.
func TestDrainWhileAStageHolds(t *testing.T) {
	s := newStagedServer(t, heldReading(time.Second))
	require.Empty(t, s.say("a\n", time.Millisecond))
	require.NoError(t, s.server.Drain(context.Background()))
	require.Equal(t, "a\n", s.hear(time.Millisecond))
}

// TestSlowStage: RequestTimeout counts while the connection is read, not while a stage holds.
func TestSlowStage(t *testing.T) {
	h := newHearing(t, func(c *config) {
		c.RequestTimeout = time.Second
		c.Stages = one(&scripted{
			receive: func(f *stage.Flow, p []byte) error {
				f.Up(p)
				if string(p) == "a" {
					f.HoldReading(true)
					f.Alarm(5 * time.Second)
				}
				return nil
			},
			tick: func(f *stage.Flow) error {
				f.HoldReading(false)
				return nil
			},
		})
	})
	h.client.Write([]byte("a"))
	h.Run(time.Millisecond)
	h.client.Write([]byte("b\n"))
	h.Run(10 * time.Second)
	require.Equal(t, "ab,", h.heard())
	require.NoError(t, h.tell("close"))
	h.over()
}

// crashing is a Stage that panics in one of its methods.
type crashing struct{ moved, end bool }

func (c *crashing) Moved(_ *stage.Flow, _, sent int) {
	if c.moved && sent > 0 {
		panic("a stage")
	}
}

func (c *crashing) Send(f *stage.Flow, p []byte) error {
	f.Down(p)
	return nil
}

func (c *crashing) SendEnd(*stage.Flow) error {
	if c.end {
		panic("a stage")
	}
	return nil
}

// TestMeterThatPanics costs its connection.
func TestMeterThatPanics(t *testing.T) {
	s := newStagedServer(t, one(&crashing{moved: true}))
	require.NotPanics(t, func() { s.say("x\n", time.Second) })
	require.Error(t, s.peer.Err())
}

// TestStageOfClientThatPanicsAtTheEnd costs its connection, which ends anyway.
func TestStageOfClientThatPanicsAtTheEnd(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) {
		c.IdleTimeout = 100 * time.Millisecond
		c.Stages = one(&crashing{end: true})
	})
	require.NotPanics(t, func() { p.Run(time.Second) })
	require.Zero(t, p.client.Stats().Conns)
}

// holdAfter is a Stage that holds what comes behind each result for d.
func holdAfter(d time.Duration) func() []stage.Stage {
	return one(&scripted{
		send: func(f *stage.Flow, p []byte) error {
			f.Down(p)
			f.HoldSending(true)
			f.Alarm(d)
			return nil
		},
		tick: func(f *stage.Flow) error {
			f.HoldSending(false)
			return nil
		},
	})
}

// TestWriteTimeoutOfWhatAStageHolds: it begins at once, also for a message, behind which no step of
// the connection comes.
func TestWriteTimeoutOfWhatAStageHolds(t *testing.T) {
	inStudies(t, func(c *config) { c.Stages, c.WriteTimeout = holdAfter(time.Hour), time.Second }, func(t *testing.T, s *study) {
		p := s.dial()
		s.Run(10 * time.Second)
		require.EqualValues(t, 1, s.Stats().Conns, "nothing is held")
		s.ends(s.begin("a"), nil)
		s.Run(2 * time.Second)
		require.EqualValues(t, 1, s.Stats().WriteTimeouts)
		p.Close()
	})
}

// TestWriteTimeoutBehindAStageThatHeld: a client has all of it for what a stage has held.
func TestWriteTimeoutBehindAStageThatHeld(t *testing.T) {
	inStudies(t, func(c *config) { c.Stages, c.WriteTimeout = holdAfter(8*time.Second), 10*time.Second }, func(t *testing.T, s *study) {
		p := s.dial()
		s.Run(9 * time.Second)
		s.Net.Faults.Window = len("a\n")
		s.ends(s.begin("a"), nil) // the socket is full, which nobody knows
		s.ends(s.begin("b"), nil)
		s.Run(17 * time.Second)
		require.Zero(t, s.Stats().WriteTimeouts)
		s.Run(5 * time.Second)
		require.EqualValues(t, 1, s.Stats().WriteTimeouts)
		p.Close()
	})
}
