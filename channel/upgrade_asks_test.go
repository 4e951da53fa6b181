package channel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestAsksOfAConnectionThatIsUpgraded: what is encoded before its result arrives, and nothing goes
// behind that, also if it came amid the result. The Peer has gone then.
func TestAsksOfAConnectionThatIsUpgraded(t *testing.T) {
	inStudies(t, func(c *config) { c.OutputMax = 1000 }, func(t *testing.T, s *study) {
		p := s.dial()
		s.Net.Faults.Window = 100
		text := strings.Repeat("m", 1099)
		call := s.begin("!" + text + " !a")
		p.Write([]byte("change y\n"))
		s.Run(time.Millisecond)
		s.ends(s.begin("b !c"), core.ErrStopped, core.ErrNotSent)
		require.Equal(t, text+"\ny\n", s.read(p, 1102))
		s.ends(call, nil, core.ErrNotSent)
		counts, err := housetest.Ask(t, s.Sim, scribeTells.At(s.at), struct{}{})
		require.NoError(t, err)
		require.Equal(t, []int{1}, counts)
		s.Net.Faults.Window = 0
		says(t, s.Sim, p, "z z\n", "z\n")

		p = s.dial()
		says(t, s.Sim, p, "twochange a\n", "a\n")
		call = s.begin("b !c")
		s.Run(20 * time.Millisecond)
		s.ends(call, nil, core.ErrNotSent)
		says(t, s.Sim, p, "z z\n", "a\nz\n")
	})
}

// TestUpgradeBeforeAStep: a request whose step has found that its connection is upgraded ends, too:
// the upgrade waits for that.
func TestUpgradeBeforeAStep(t *testing.T) {
	s := newStudy(t, 0, nil)
	p := s.dial()
	says(t, s.Sim, p, "change x\ntellnever y\n", "x\n")
	says(t, s.Sim, p, "z z\n", "z\n")
	require.NoError(t, s.Close(t.Context()))
}
