package channel_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestAnswerTimeout: what a request waits for ends by its deadline, and its handler says what the
// client is told; one that couldn't begin by then doesn't. What comes later has its own time.
func TestAnswerTimeout(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	w := sim.Workers()[0]
	holder := core.Spawn(w, func() *keeper { return &keeper{open: map[int]bool{}} })
	at := core.Spawn(w, func() *front { return &front{keeper: keeperHold.At(holder), parts: new(atomic.Int64)} })
	server, err := channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:80", Codec: newSoloCodec, AnswerTimeout: time.Second, OutputMax: 1000}, serve, at)
	require.NoError(t, err)
	s := &stagedServer{TB: t, sim: sim, server: server}
	s.dial()
	late := "-" + core.ErrTimeout.Error() + "\n"
	require.Empty(t, s.say("hold 1 a\nb\n", 900*time.Millisecond))
	require.Empty(t, s.say("solo c\nhold 1 d\n", 90*time.Millisecond))
	require.Equal(t, late+"b\nc\n", s.hear(20*time.Millisecond))
	require.Equal(t, late, s.hear(time.Second), "it came in once the other was answered")

	require.Empty(t, s.say("after 5000 a\n", 990*time.Millisecond), "no time is left to wait for this")
	require.NotEmpty(t, s.hear(20*time.Millisecond))

	sim.Net.Faults.Window = 100
	s.peer.Write([]byte("parts 2 5000\nsolo e\n"))
	sim.Run(2 * time.Second)
	sim.Net.Faults.Window = 0
	got := ""
	for range 200 {
		got += s.hear(time.Millisecond)
	}
	require.Equal(t, big(5000)+"\n"+big(5000)+"\n"+late, got, "a part waits for room longer, what is behind it doesn't begin")
	require.Equal(t, "f\n", s.say("f\n", time.Millisecond))
	require.NoError(t, server.Close(t.Context()))
}

// TestNoAnswerTimeout: a timer has as long as it wants.
func TestNoAnswerTimeout(t *testing.T) {
	s := newStagedServer(t, nil)
	require.Empty(t, s.say("after 500000 a\n", 499*time.Second))
	require.Equal(t, "a\n", s.hear(2*time.Second))
}
