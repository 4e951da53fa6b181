package pace

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStrides: the stride after messages that took so long.
func TestStrides(t *testing.T) {
	const turn = 80_000 // so a stride should take 10,000 ns
	for name, c := range map[string]struct {
		each int64 // ns a message
		from int   // the previous stride
		want []int
	}{
		"quick ones double":         {10, 1, []int{2, 4, 8, 16, 32, 64, 64}},
		"slow ones come at once":    {5_000, 64, []int{2, 2}},
		"one is longer than a turn": {200_000, 64, []int{1, 1}},
		"as many as take a part":    {1_000, 4, []int{8, 10, 10}},
		"the clock stands still":    {0, 1, []int{2, 4}},
		"the clock runs backwards":  {-5, 1, []int{2, 4}},
		"some quick, after slow":    {100, 3, []int{6, 12}},
	} {
		t.Run(name, func(t *testing.T) {
			p := Pace{stride: uint64(c.from)}
			now, handled := int64(1e9), uint64(7)
			p.Pass(now, handled)
			for _, want := range c.want {
				require.Equal(t, handled+uint64(p.Stride()), p.Next)
				handled, now = p.Next, now+int64(p.Stride())*c.each
				p.Measure(now, handled, turn)
				require.Equal(t, want, p.Stride())
			}
		})
	}
}

// Fewer messages than the stride don't change it, unless they took a whole turn's time.
func TestShortOfMessages(t *testing.T) {
	p := Pace{stride: 16}
	p.Pass(0, 0)
	p.Measure(50_000, 3, 80_000)
	require.Equal(t, 16, p.Stride())
	require.EqualValues(t, 3+16, p.Next)
	p.Measure(50_000+80_000, 6, 80_000)
	require.Equal(t, 1, p.Stride())
}

// If a turn's time has no limit no message is slow.
func TestNoTurnTime(t *testing.T) {
	p := Pace{stride: Max}
	p.Pass(0, 0)
	p.Measure(math.MaxInt64, Max, 0)
	require.Equal(t, Max, p.Stride())
	p.Never()
	require.EqualValues(t, uint64(math.MaxUint64), p.Next)
	p.Pass(0, Max)
	require.EqualValues(t, 2*Max, p.Next)
}

// Messages in turns of another worker count for the next reading, and don't change the stride.
func TestAssisted(t *testing.T) {
	p, other := Pace{stride: 8}, Pace{stride: 8}
	p.Pass(100, 10)
	other.Pass(90, 1000)
	p.Assisted(&other, 1000, 1005) // the other's clock wasn't read meanwhile
	n, took := p.Since(200, 12)
	require.EqualValues(t, 7, n)
	require.EqualValues(t, 100, took)
	p.Measure(1_000_000, 12, 80_000)
	require.Equal(t, 8, p.Stride())

	p.Pass(100, 12)
	other.Pass(150, 1008)
	p.Assisted(&other, 1005, 1010) // this time it was
	n, took = p.Since(200, 12)
	require.EqualValues(t, 2, n)
	require.EqualValues(t, 50, took)
}

func TestLater(t *testing.T) {
	for _, c := range [][3]int64{{0, 0, 0}, {5, 7, 12}, {5, math.MaxInt64, math.MaxInt64}, {math.MaxInt64, 1, math.MaxInt64}, {7, -5, 2}} {
		require.Equal(t, c[2], Later(c[0], c[1]))
	}
}

// The difference of two moments less than a minute apart is right, in milliseconds.
func TestMoment(t *testing.T) {
	for _, ns := range []int64{0, 1 << 20, 65_534 << 20, 65_535 << 20, 1 << 60} {
		for _, ms := range []int64{0, 1, 10, 60_000} {
			require.EqualValues(t, ms, MomentOf(ns+ms<<20)-MomentOf(ns))
		}
	}
	require.NotZero(t, MomentOf(0))
}

func TestVisit(t *testing.T) {
	for _, c := range []struct {
		stride uint64
		turn   int64
		want   int
	}{{4, 0, 32}, {4, 80_000, 4}, {40, 80_000, 32}, {Max, 80_000, 32}, {0, 80_000, 1}} {
		require.Equal(t, c.want, (&Pace{stride: c.stride}).Visit(32, c.turn), c)
	}
}
