package channel_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestAskThroughStages: it is answered when the socket has taken what the stages have made of its
// message.
func TestAskThroughStages(t *testing.T) {
	inStudies(t, func(c *config) { c.Stages = one(&scripted{}) }, func(t *testing.T, s *study) {
		p := s.dial()
		s.Net.Faults.Window = 100
		text := strings.Repeat("m", 499)
		call := s.begin("!" + text)
		got := s.read(p, 399)
		require.False(t, call.Ready(), "a byte isn't taken")
		got += s.read(p, 1)
		s.ends(call, nil)
		require.Equal(t, text+"\n", got+s.read(p, 100))
	})
}

// TestAskBehindAPartThatIsNotSent: it is known that no byte of it was taken, though bytes of the
// result were.
func TestAskBehindAPartThatIsNotSent(t *testing.T) {
	inStudies(t, nil, func(t *testing.T, s *study) {
		p := s.dial()
		s.Net.Faults.Window = 3
		for request := "two " + strings.Repeat("t", 9) + "\n"; request != ""; s.Run(time.Millisecond) {
			request = request[p.Write([]byte(request)):]
		}
		call := s.begin("!f")
		s.Run(20 * time.Millisecond)
		s.read(p, 5)
		p.Reset()
		s.Run(time.Millisecond)
		s.ends(call, core.ErrNotSent)
	})
}

// TestWatchOfAConnectionThatLingers: it hasn't ended.
func TestWatchOfAConnectionThatLingers(t *testing.T) {
	inPosts(t, func(t *testing.T, p *post) {
		peer := p.dial(1)[0]
		p.heard("close", 0)
		require.Equal(t, io.EOF, peer.Err())
		p.heard("unwatch", 0)
		p.heard("watch", 0)
		p.heard("", 0)
		peer.Close()
		p.Run(time.Millisecond)
		p.heard("", 1)
	})
}

// TestEndBeforeAPart: this side ends though a result in parts is in flight, none of which was
// written.
func TestEndBeforeAPart(t *testing.T) {
	h := newHearing(t, nil)
	h.Net.Faults.Window = 10
	h.say("a")
	text := strings.Repeat("x", 100)
	require.NoError(t, h.tell(text+",end"))
	h.say("two b")
	h.Net.Faults.Window = 0
	require.Equal(t, "a,"+text[:8], h.heard())
	require.Equal(t, text[8:]+",.", h.heard())
	require.NotContains(t, h.look(), "late")
	h.Run(time.Second)
	h.over()
}

// TestCloseEndsThoughTheClientDoesNot: it lingers for 2 s.
func TestCloseEndsThoughTheClientDoesNot(t *testing.T) {
	h := newHearing(t, nil)
	h.say("a")
	require.NoError(t, h.tell("close"))
	for range 5 {
		h.Run(time.Second)
	}
	require.Zero(t, h.server.Stats().Conns)
	h.over()
}

// TestStageThatFindsTheEnd: the connection ends, though its socket hasn't.
func TestStageThatFindsTheEnd(t *testing.T) {
	s := newStagedServer(t, one(&scripted{receive: func(f *stage.Flow, p []byte) error {
		before, _, ended := strings.Cut(string(p), "!")
		f.Up([]byte(before))
		if ended {
			return io.EOF
		}
		return nil
	}}))
	require.Equal(t, "a\n", s.say("a\n!b\n", time.Millisecond))
	require.Equal(t, io.EOF, s.peer.Err())
}

// TestOutputOfStagesIsBounded: a client that doesn't read costs OutputMax bytes, and what stages
// have handed down.
func TestOutputOfStagesIsBounded(t *testing.T) {
	h := newHearing(t, func(c *config) { c.OutputMax, c.Stages = 1000, one(&scripted{}) })
	line := strings.Repeat("x", 99) + "\n"
	h.Net.Faults.Window = 1000
	for range 5000 {
		h.client.Write([]byte(line))
		h.Run(10 * time.Microsecond)
	}
	h.Run(time.Second)
	require.Less(t, strings.Count(h.look(), ","), 1000)
}

// TestCloseOfAListenerThatNobodyUses: nothing is left of it.
func TestCloseOfAListenerThatNobodyUses(t *testing.T) {
	s := newStreet(t, core.Props{}, nil)
	door, err := housetest.Ask(t, s.Sim, innOpens.At(s.at), "127.0.0.1:7001")
	require.NoError(t, err)
	_, err = housetest.Ask(t, s.Sim, innCloses.At(s.at), door)
	require.NoError(t, err)
	s.Run(time.Millisecond)
	require.True(t, channel.Gone(door))
}
