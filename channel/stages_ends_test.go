package channel_test

import (
	"bytes"
	"context"
	"io"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestAnswersOfStagesAreBounded: who has stages answer, and reads none of it, is read no more until
// the answers leave.
func TestAnswersOfStagesAreBounded(t *testing.T) {
	received, sent := 0, 0
	s := newStagedServer(t, one(&scripted{receive: func(f *stage.Flow, p []byte) error {
		received += len(p)
		f.Down(bytes.Repeat([]byte("k"), 100*len(p)))
		return nil
	}}))
	for range 5000 {
		sent += s.peer.Write(make([]byte, 100))
		s.sim.Run(10 * time.Microsecond)
	}
	require.Less(t, received, 5000)
	got := 0
	for range 1_000_000 {
		if got += len(s.peer.Read(10_000)); got == 100*sent {
			break
		}
		s.sim.Run(10 * time.Microsecond)
	}
	require.Equal(t, 100*sent, got)
	require.Equal(t, sent, received)

	// a socket that takes all, of which the poller has nothing to tell, has the rest read as well
	s = newStagedServer(t, one(&scripted{receive: func(f *stage.Flow, p []byte) error {
		f.Down(make([]byte, 400_000))
		return nil
	}}))
	s.sim.Net.Faults.Window = 1 << 30
	s.peer.Write(make([]byte, 1000)) // ten reads
	got = 0
	for range 1000 {
		s.sim.Run(time.Millisecond)
		got += len(s.peer.Read(10_000_000))
	}
	require.Equal(t, 10*400_000, got)
}

// TestNobodyHearsTheEndOfWhatNeverStood: a client that ends at once, as those do that look whether
// anybody is there.
func TestNobodyHearsTheEndOfWhatNeverStood(t *testing.T) {
	by := &housetest.Secured{Took: time.Millisecond}
	h := newHearing(t, func(c *config) { c.Stages = func() []stage.Stage { return []stage.Stage{by.Server()} } })
	before := h.look()
	h.Run(10 * time.Second)
	require.Error(t, h.client.Err(), "a handshake that was never over")
	p := h.Net.Dial(h.server.Addr())
	h.Run(time.Millisecond)
	p.End()
	h.Run(time.Millisecond)
	require.Equal(t, io.EOF, p.Err())
	require.Zero(t, h.server.Stats().Conns)
	require.EqualValues(t, 1, h.server.Stats().StageFailures, "that of the first connection")
	require.Equal(t, before, h.look())
}

// slowOpener is a Stage whose connection opens once it is woken.
type slowOpener struct{ wake func() }

func (s *slowOpener) Open(f *stage.Flow) error {
	f.HoldOpening(true)
	s.wake = f.Waker()
	return nil
}

func (s *slowOpener) Wake(f *stage.Flow) error {
	f.HoldOpening(false)
	return nil
}

// TestAttemptsThatOpenAtOnce: a client that is to have one connection has one, though handshakes
// with two addresses end in one turn.
func TestAttemptsThatOpenAtOnce(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	doors := []*housetest.Door{sim.Net.Serve("10.0.0.1:80"), sim.Net.Serve("10.0.0.2:80")}
	var all []*slowOpener
	begun := false
	client, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: "server:80",
		Codec:    newLineClient,
		CodecFor: func(string) channel.ClientCodec[request, reply] { return newLineClient() },
		Stages: func() []stage.Stage {
			if !begun {
				return nil
			}
			all = append(all, &slowOpener{})
			return []stage.Stage{all[len(all)-1]}
		},
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}, nil
		}})
	require.NoError(t, err)
	begun = true
	doors[0].Accept().Reset()
	sim.Run(time.Minute) // longer than it pauses
	a := core.Begin(client.Port(), request{[]byte("a")})
	sim.Run(time.Second)
	require.Len(t, all, 2)
	for _, s := range all {
		s.wake()
	}
	sim.Run(time.Millisecond)
	require.EqualValues(t, 1, client.Stats().Conns)
	require.Equal(t, 1, sim.Net.Open())
	require.NoError(t, client.Close(t.Context()))
	_, err = a.Get()
	require.ErrorIs(t, err, core.ErrLost)
}

// TestCodecForReturnsNil: the connection ends, and is begun once.
func TestCodecForReturnsNil(t *testing.T) {
	opened := 0
	stages := func() []stage.Stage {
		return []stage.Stage{&scripted{
			open:    func(f *stage.Flow) error { opened++; f.HoldOpening(true); return nil },
			receive: func(f *stage.Flow, p []byte) error { f.HoldOpening(false); f.Up(p); return nil },
		}}
	}
	h := newHearing(t, func(c *config) {
		c.Stages, c.CodecFor = stages, func(string) channel.Codec[request, reply] { return nil }
	})
	h.client.Write([]byte("a\n"))
	h.Run(time.Second)
	require.Error(t, h.client.Err())
	require.Zero(t, h.server.Stats().Conns)
	require.Equal(t, 1, opened)

	sim := housetest.New(t, 1, house.Config{Workers: 1})
	sim.Net.Serve(doorAddress)
	_, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: doorAddress, Codec: newLineClient,
		Stages:   func() []stage.Stage { return []stage.Stage{patientOpener{}} },
		CodecFor: func(string) channel.ClientCodec[request, reply] { return nil }})
	require.ErrorIs(t, err, core.ErrNotSent)
	require.Zero(t, sim.Net.Open())
}

// patientOpener is a Stage whose connection opens in a while.
type patientOpener struct{}

func (patientOpener) Open(f *stage.Flow) error {
	f.HoldOpening(true)
	f.Alarm(time.Millisecond)
	return nil
}

func (patientOpener) Tick(f *stage.Flow) error {
	f.HoldOpening(false)
	return nil
}

// TestPartsKeptByStages: the rest of what a stage keeps must come in RequestTimeout.
func TestPartsKeptByStages(t *testing.T) {
	for _, rest := range []bool{false, true} {
		sim := housetest.New(t, 1, house.Config{Workers: 1})
		at := core.Spawn(sim.Workers()[0], func() *front { return &front{} })
		server, err := channel.Listen(t.Context(), config{Network: "tcp", Address: doorAddress, Codec: newLineCodec, RequestTimeout: time.Second,
			Stages: one(&scripted{receive: func(f *stage.Flow, p []byte) error {
				f.KeepPart(!bytes.HasSuffix(p, []byte("\n")))
				if bytes.HasSuffix(p, []byte("\n")) {
					f.Up(p)
				}
				return nil
			}})}, serve, at)
		require.NoError(t, err)
		s := &stagedServer{TB: t, sim: sim, server: server}
		s.dial()
		s.say("a", 600*time.Millisecond)
		if rest {
			require.Equal(t, "b\n", s.say("b\n", time.Minute))
			require.Zero(t, server.Stats().RequestTimeouts)
			require.EqualValues(t, 1, server.Stats().Conns)
		} else {
			s.say("", time.Second)
			require.EqualValues(t, 1, server.Stats().RequestTimeouts)
		}
		require.NoError(t, server.Close(t.Context()))
	}
}

// sleeper is a Stage that is woken from outside.
type sleeper struct {
	wake  func()
	woken int
}

func (s *sleeper) Open(f *stage.Flow) error { s.wake = f.Waker(); return nil }
func (s *sleeper) Wake(*stage.Flow) error   { s.woken++; return nil }

// TestWakesBehindAnUpgrade: they come, whenever the function was asked for.
func TestWakesBehindAnUpgrade(t *testing.T) {
	by := &sleeper{}
	sim, server, _, _ := newHost(t, 1, func(c *config) { c.Stages = one(by) })
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	by.wake()
	sim.Run(time.Millisecond)
	before := by.woken
	require.NotZero(t, before)
	require.Equal(t, "yes\n", s.say("frames yes\n", time.Millisecond))
	before = by.woken
	by.wake()
	sim.Run(time.Millisecond)
	require.Equal(t, before+1, by.woken)
	require.NoError(t, server.Close(context.Background()))
}

// restless is a sleeper that is woken when the socket takes something, and then once more.
type restless struct{ sleeper }

func (s *restless) Moved(_ *stage.Flow, _, sent int) {
	if sent > 0 {
		s.wake()
	}
}

func (s *restless) Wake(*stage.Flow) error {
	if s.woken++; s.woken == 1 {
		s.wake()
	}
	return nil
}

// TestWakesAmidAnUpgrade: one that was asked for just before comes.
func TestWakesAmidAnUpgrade(t *testing.T) {
	by := &restless{}
	sim, server, _, _ := newHost(t, 1, func(c *config) { c.Stages = one(by) })
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	require.Equal(t, "yes\n", s.say("frames yes\n", time.Millisecond))
	require.Equal(t, 2, by.woken)
	require.NoError(t, server.Close(context.Background()))
}

// hasty is a slowOpener that must be woken within a second.
type hasty struct {
	slowOpener
	woken bool
}

func (s *hasty) Open(f *stage.Flow) error {
	f.Alarm(time.Second)
	return s.slowOpener.Open(f)
}

func (s *hasty) Wake(f *stage.Flow) error {
	s.woken = true
	return s.slowOpener.Wake(f)
}

func (s *hasty) Tick(*stage.Flow) error {
	if !s.woken {
		return errMark
	}
	return nil
}

// TestWokenInTime: what a stage waits for isn't late because its actor begins no calls.
func TestWokenInTime(t *testing.T) {
	by := &hasty{}
	h := newHearing(t, func(c *config) { c.Stages = one(by) })
	h.at.Pause()
	h.Run(500 * time.Millisecond)
	by.wake()
	h.Run(time.Second)
	h.at.Continue()
	h.say("a")
	require.Equal(t, "a,", h.heard())
}

// wordy is a Stage whose last words are "bye", and counts how often it has closed.
type wordy struct {
	scripted
	panics bool // once the socket has taken something
	closed int
}

func (w *wordy) SendEnd(f *stage.Flow) error { f.Down([]byte("bye")); return nil }
func (w *wordy) Closed(*stage.Flow)          { w.closed++ }
func (w *wordy) Moved(_ *stage.Flow, _, sent int) {
	if w.panics && sent > 0 {
		panic("a stage's")
	}
}

// TestLastWordsOfAnActorThatStops: stages say them, behind results.
func TestLastWordsOfAnActorThatStops(t *testing.T) {
	by := &wordy{}
	h := newHearing(t, func(c *config) { c.Stages = one(by) })
	h.say("a")
	require.NoError(t, h.at.StopWait(t.Context()))
	require.Equal(t, "a,bye.", h.heard())
	require.Equal(t, 1, by.closed)
}

// TestLastWordsAreTrue: they aren't said where bytes were dropped that should have come before.
func TestLastWordsAreTrue(t *testing.T) {
	t.Run("server", func(t *testing.T) {
		by := &wordy{}
		by.receive = func(f *stage.Flow, p []byte) error {
			f.HoldSending(true)
			f.Up(p)
			f.Alarm(time.Millisecond)
			return nil
		}
		by.tick = func(f *stage.Flow) error { f.Close(); return nil }
		h := newHearing(t, func(c *config) { c.Stages = one(by) })
		h.say("a")
		h.Run(10 * time.Millisecond)
		require.Equal(t, ".", h.heard())
	})
	t.Run("client", func(t *testing.T) {
		for _, held := range []bool{false, true} {
			sim := housetest.New(t, 1, house.Config{Workers: 1})
			door := sim.Net.Serve(doorAddress)
			by := &wordy{}
			by.open = func(f *stage.Flow) error { f.HoldSending(held); return nil }
			client, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: doorAddress, Codec: newLineClient,
				Stages: one(by), ReplyTimeout: time.Second})
			require.NoError(t, err)
			p := door.Accept()
			a := core.Begin(client.Port(), request{[]byte("a")})
			sim.Run(5 * time.Second)
			_, err = a.Get()
			require.Error(t, err)
			if held {
				require.Empty(t, p.Read(100))
			} else {
				require.Equal(t, "a\nbye", string(p.Read(100)))
			}
		}
	})
}

// TestStagesCloseBehindAPanic: each, and once.
func TestStagesCloseBehindAPanic(t *testing.T) {
	first, last := &wordy{}, &wordy{}
	h := newHearing(t, func(c *config) { c.Stages = func() []stage.Stage { return []stage.Stage{first, last} } })
	first.panics = true
	h.client.Write([]byte("a\n"))
	h.Run(time.Second)
	require.Zero(t, h.server.Stats().Conns)
	require.Equal(t, []int{1, 1}, []int{first.closed, last.closed})
}

// TestRefusalPassesNoStages: a client beyond ConnsMax is told in plain text, unless stages would
// have written it otherwise.
func TestRefusalPassesNoStages(t *testing.T) {
	for _, c := range []struct {
		stages func() []stage.Stage
		tells  bool
	}{{nil, true}, {one(stage.Idle(time.Hour)), true}, {ciphers, false}} {
		h := newHearing(t, func(to *config) { to.ConnsMax, to.Stages = 1, c.stages })
		other := h.Net.Dial(h.server.Addr())
		h.Run(time.Millisecond)
		text := string(other.Read(1000))
		require.Error(t, other.Err())
		require.Equal(t, c.tells, strings.Contains(text, "connections"), text)
	}
}

// TestConnectFailsByReset: the asker hears what has become of a handshake.
func TestConnectFailsByReset(t *testing.T) {
	by := &housetest.Secured{}
	c := newCrossing(t, func(c *channel.ConnectConfig[bridge, request, reply]) {
		c.Stages = func() []stage.Stage { return []stage.Stage{by.Client()} }
	})
	opens := core.Begin(bridgeOpens.At(c.at), struct{}{})
	c.Run(time.Millisecond)
	c.door.Accept().Reset()
	c.Run(time.Millisecond)
	require.True(t, opens.Ready())
	_, err := opens.Get()
	require.ErrorIs(t, err, syscall.ECONNRESET)
}
