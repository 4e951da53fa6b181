package channel_test

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// securedSim is a simulation with a server and a client, between which there is a handshake.
type securedSim struct {
	*housetest.Sim
	t      *testing.T
	server *server
	client *asking
}

func newSecuredSim(t *testing.T, seed uint64, workers int, by *housetest.Secured, dials bool) *securedSim {
	s := &securedSim{Sim: housetest.New(t, seed, house.Config{Workers: workers, AskTimeout: time.Minute, Logger: slog.New(slog.DiscardHandler)}), t: t}
	far := core.Spawn(s.Workers()[0], func() *hall { return &hall{} })
	near := core.Spawn(s.Workers()[0], func() *hall { return &hall{other: hallJoin.At(far)} })
	var err error
	s.server, err = channel.Listen(t.Context(), config{Network: "tcp", Address: doorAddress, Codec: newLineCodec,
		Stages: func() []stage.Stage { return []stage.Stage{by.Server()} }}, hallServe, near)
	require.NoError(t, err)
	if dials {
		s.client, err = channel.Dial(t.Context(), s.System, clientConfig{Network: "tcp", Address: doorAddress, Codec: newLineClient,
			Stages: func() []stage.Stage { return []stage.Stage{by.Client()} }})
		require.NoError(t, err)
	}
	return s
}

// TestSecuredSim: what waits for a handshake goes on behind it, and a drain ends it in order.
func TestSecuredSim(t *testing.T) {
	s := newSecuredSim(t, 1, 2, &housetest.Secured{Took: 30 * time.Millisecond}, true)
	require.EqualValues(t, 1, s.client.Stats().Conns/2)
	a := core.Begin(s.client.Port(), request{[]byte("x " + strings.Repeat("y", 50_000))})
	s.Run(time.Second)
	require.True(t, a.Ready())
	require.NoError(t, a.GetInto(func(rep *reply) { require.Len(t, rep.text, 50_000) }))
	require.NoError(t, s.server.Drain(t.Context()))
	s.Run(time.Second)
	require.Zero(t, s.client.Stats().Conns)
	require.Zero(t, s.server.Stats().StageFailures)
}

// TestSecuredSimFails: a handshake that is refused, or never over, costs no ask that could be sent.
func TestSecuredSimFails(t *testing.T) {
	for _, by := range []*housetest.Secured{{Took: time.Millisecond, Fails: true}, {Took: time.Minute}} {
		s := newSecuredSim(t, 1, 1, by, false)
		_, err := channel.Dial(t.Context(), s.System, clientConfig{Network: "tcp", Address: doorAddress, Codec: newLineClient,
			Stages: func() []stage.Stage { return []stage.Stage{by.Client()} }})
		require.ErrorIs(t, err, core.ErrNotSent)
		if by.Fails {
			require.ErrorIs(t, err, housetest.ErrRefused)
		} else {
			require.ErrorIs(t, err, secure.ErrHandshakeTime)
		}
		s.Run(5 * time.Second)
		require.Zero(t, s.server.Stats().Conns)
		require.EqualValues(t, 1, s.server.Stats().StageFailures)

		// one that says what is no record, and one that says nothing
		p, silent := s.Net.Dial(doorAddress), s.Net.Dial(doorAddress)
		s.Run(time.Millisecond)
		p.Write([]byte("GET / HTTP/1.1\r\n"))
		s.Run(5 * time.Second)
		require.Error(t, p.Err())
		require.Error(t, silent.Err())
		require.EqualValues(t, 3, s.server.Stats().StageFailures)
	}
}

// TestSecuredSimTLSOf: whose a connection is, as its actor sees it.
func TestSecuredSimTLSOf(t *testing.T) {
	by := &housetest.Secured{Took: time.Millisecond, Protocol: "loud", State: tls.ConnectionState{ServerName: "a.test"}}
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	at := core.Spawn(sim.Workers()[0], func() *teller { return &teller{} })
	_, err := channel.Listen(t.Context(), config{Network: "tcp", Address: doorAddress, Codec: newLineCodec,
		Stages: func() []stage.Stage { return []stage.Stage{by.Server()} }}, tellerServes, at)
	require.NoError(t, err)
	client, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: doorAddress, Codec: newLineClient,
		Stages: func() []stage.Stage { return []stage.Stage{by.Client()} }})
	require.NoError(t, err)
	a := core.Begin(client.Port(), request{[]byte("who am I?")})
	sim.Run(time.Second)
	require.NoError(t, a.GetInto(func(rep *reply) { require.Equal(t, `nobody asks a.test for "loud"`, string(rep.text)) }))
	require.NoError(t, client.Close(t.Context()))
}

// isClientError reports whether err is one that a Client's port may give.
func isClientError(err error) bool {
	for _, known := range []error{core.ErrNotSent, core.ErrLost, core.ErrOverloaded, core.ErrTimeout} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// TestSecuredSimulations: faults of the network, then none. Each ask has its answer or an error
// that says whether it may have had an effect, and behind them all goes well.
func TestSecuredSimulations(t *testing.T) {
	for seed := range uint64(100) {
		run := func() uint64 {
			rng := rand.New(rand.NewPCG(seed, 3))
			s := newSecuredSim(t, seed, 1+rng.IntN(2), &housetest.Secured{Took: time.Duration(1 + rng.IntN(1<<rng.IntN(28)))}, true)
			s.Net.Faults = housetest.Draw(rng)
			s.Net.Faults.Resets /= 20
			var all []core.Pending[reply]
			for range 30 {
				all = append(all, core.Begin(s.client.Port(), request{[]byte("x " + strings.Repeat("y", rng.IntN(300)))}))
				s.Run(time.Duration(rng.IntN(1 << rng.IntN(26))))
			}
			s.Net.Faults = housetest.Faults{}
			s.Run(2 * time.Minute)
			for _, a := range all {
				require.True(t, a.Ready(), "seed %d", seed)
				if _, err := a.Get(); err != nil {
					require.True(t, isClientError(err), "seed %d: %v", seed, err)
				}
			}
			a := core.Begin(s.client.Port(), request{[]byte("x y")})
			s.Run(time.Minute)
			require.True(t, a.Ready(), "seed %d", seed)
			_, err := a.Get()
			require.NoError(t, err, "seed %d", seed)
			require.NoError(t, s.client.Close(t.Context()))
			s.Run(time.Second)
			require.Zero(t, s.server.Stats().Conns, "seed %d", seed)
			require.NoError(t, s.Shutdown(t.Context()))
			return s.Hash()
		}
		require.Equal(t, run(), run(), "seed %d", seed)
	}
}
