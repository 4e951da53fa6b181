package cluster

import (
	"bytes"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// sleeper echoes what it gets, a while later.
type sleeper struct{}

type sleepStep struct {
	core.AskStack[[]byte, []byte]
	tick core.Future[core.Tick]
}

func (*sleeper) echo(s *sleepStep) core.Yield {
	core.Timer.Ask(s, &s.tick, time.Second)
	return core.Suspend(s, (*sleeper).woken)
}

func (*sleeper) woken(s *sleepStep) core.Yield { return s.Return(s.Req) }

var _ = core.Handle((*sleeper).echo).As(echo)

// TestBytesLiveAsLongAsTheirCall: what came with an ask stays as it is while others come.
func TestBytesLiveAsLongAsTheirCall(t *testing.T) {
	c := newCalm(t)
	_, err := core.SpawnWith(c.there.system, func() *sleeper { return &sleeper{} }, core.Props{Name: "sleeper"})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/sleeper"})
	require.NoError(t, err)
	sizes := []int{1, 10, 100, 1000, 30_000, 60_000, 100_000, 300_000}
	var asks []core.Pending[[]byte]
	var want [][]byte
	for round := range 20 {
		for i, size := range sizes {
			want = append(want, bytes.Repeat([]byte{byte(1 + round*len(sizes) + i)}, size))
			asks = append(asks, core.Begin(echo.At(far), want[len(want)-1]))
		}
		c.sim.Run(20 * time.Millisecond)
	}
	c.sim.Run(10 * time.Second)
	for i := range asks {
		require.NoError(t, asks[i].GetInto(func(got *[]byte) {
			require.True(t, bytes.Equal(want[i], *got), "ask %d, of %d bytes", i, len(want[i]))
		}))
	}
}

// TestTextsOfTheLongest: a message may be as long as a frame that holds it, and is refused if it is
// longer by a byte; the room that it took isn't kept.
func TestTextsOfTheLongest(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	by := k.methods.byName["test.counter.echo"].request
	write := func(n int) (int, error) {
		b := make([]byte, n)
		text, err := k.write(by, unsafe.Pointer(&b))
		return len(text), err
	}
	const most = frame.LongMax - frame.HeadMax
	size, err := write(most - 10)
	require.NoError(t, err)
	over := size - (most - 10) // what says how long it is
	size, err = write(most - over)
	require.NoError(t, err)
	require.Equal(t, most, size)
	_, err = write(most - over + 1)
	require.Equal(t, ErrTooLong, err)
	_, err = write(1)
	require.NoError(t, err)
	require.LessOrEqual(t, cap(k.text), textKept)
}
