package cluster

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// journal is what a log has.
type journal struct {
	sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.Lock()
	defer j.Unlock()
	return j.text.Write(p)
}

// count returns how many lines have a text.
func (j *journal) count(text string) int {
	j.Lock()
	defer j.Unlock()
	return strings.Count(j.text.String(), text)
}

// TestWhatIsWrongIsLogged: why a node isn't reached, once, and why one is refused.
func TestWhatIsWrongIsLogged(t *testing.T) {
	var log journal
	of := house.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	here := newPlaceIn(t, Config{Name: "here", Listen: "127.0.0.1:0", Peers: map[string]string{"there": "127.0.0.1:1"}}, of)
	away := core.Begin(here.node.Finder(), Where{"there", "/user/counter"})
	require.Eventually(t, func() bool { return log.count("can't be reached at 127.0.0.1:1: ") > 0 }, 5*time.Second, time.Millisecond)
	time.Sleep(200 * time.Millisecond) // it dials again, and again
	require.Equal(t, 1, log.count("can't be reached"))

	s := meets(t, here.node, "there", frame.Hello{Session: 1, Incarnation: 5})
	_, err := s.hello()
	require.NoError(t, err)
	for says, name := range map[string]string{"session: HELLO is from a node's earlier life": "there", "cluster: the other end has this node's name": "here"} {
		require.Eventually(t, func() bool { // some lines a second
			meets(t, here.node, name, frame.Hello{Session: 1, Incarnation: 4}).ends()
			return log.count("is refused: "+says) > 0
		}, 5*time.Second, 100*time.Millisecond)
	}
	s.conn.Close()
	require.Eventually(t, func() bool { return log.count("can't be reached") == 2 }, 5*time.Second, time.Millisecond, "again, behind a connection")
	require.NoError(t, here.node.Close(t.Context()))
	_, err = away.Get()
	require.Error(t, err)
}

// TestLookupSaysWhat: its errors name the actor and the node, and why that isn't reached.
func TestLookupSaysWhat(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	here := newPlace(t, Config{Name: "here", Timing: session.Timing{Patience: 3e8, BackoffMin: 1e7},
		Peers: map[string]string{"there": there.node.Addr(), "shut": "127.0.0.1:1"}})
	_, err := here.node.Lookup(t.Context(), "nowhere", "/user/a")
	require.ErrorIs(t, err, ErrNoNode)
	require.ErrorContains(t, err, `cluster: /user/a at node "nowhere": `)
	_, err = here.node.Lookup(t.Context(), "there", "/user/a")
	require.ErrorIs(t, err, core.ErrNotFound)
	require.EqualError(t, err, `cluster: /user/a at node "there": `+core.ErrNotFound.Error())
	_, err = here.node.Lookup(t.Context(), "shut", "/user/a")
	require.ErrorIs(t, err, ErrUnreachable)
	require.ErrorIs(t, err, core.ErrNotSent)
	require.ErrorContains(t, err, `cluster: /user/a at node "shut": `+unreachableNotSent.Error()+" (dialling 127.0.0.1:1: ")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = here.node.Lookup(ctx, "shut", "/user/a")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, " (dialling 127.0.0.1:1: ")
}
