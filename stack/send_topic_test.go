package stack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type (
	// witness writes down numbers.
	witness      struct{ seen []int }
	witnessStack struct{ NoticeStack[int] }
)

func (w *witness) see(s *witnessStack) Yield { w.seen = append(w.seen, s.Msg); return s.Return() }

var witnessSee = newNotice((*witness).see)

// TestTopicForgets: Publish and Post remove subscribers that have stopped, so that the list doesn't
// grow, and without any subscriber left a topic costs a load.
func TestTopicForgets(t *testing.T) {
	for name, publish := range map[string]func(*Topic[int], *Engine, int){
		"on a worker": func(topic *Topic[int], w *Engine, n int) { topic.Publish(w, n) },
		"by a guest":  func(topic *Topic[int], _ *Engine, n int) { topic.Post(n) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, 2)
			var topic Topic[int]
			a, b := &witness{}, &witness{}
			first, second := settleOn(h, 0, a), settleOn(h, 1, b)
			require.True(t, topic.Silent())
			topic.Subscribe(first, witnessSee)
			topic.Subscribe(second, witnessSee)
			publish(&topic, h.workers[0], 1)
			h.settle()
			first.Stop(&h.guests)
			h.settle()
			publish(&topic, h.workers[0], 2)
			require.Len(t, topic.all.All(), 1)
			publish(&topic, h.workers[0], 3)
			h.settle()
			second.Stop(&h.guests)
			h.settle()
			publish(&topic, h.workers[0], 4)
			require.True(t, topic.Silent())
			topic.Subscribe(first, witnessSee)
			require.True(t, topic.Silent(), "it has stopped")
			publish(&topic, h.workers[0], 5)
			h.settle()
			require.Equal(t, []int{1}, a.seen)
			require.Equal(t, []int{1, 2, 3}, b.seen)
		})
	}
}

// TestTopicCounts: an actor that subscribes twice is told once, one that has stopped doesn't count,
// and a listener has room for at least one event; events for which it has no room are counted.
func TestTopicCounts(t *testing.T) {
	h := newHand(t, 1)
	var topic Topic[int]
	a := &witness{}
	to := settleOn(h, 0, a)
	for range 2 {
		topic.Subscribe(to, witnessSee)
		require.Equal(t, 1, topic.Len())
	}
	l := topic.Listen(0)
	require.Equal(t, 2, topic.Len())
	for n := range 3 {
		topic.Post(n + 1)
	}
	topic.Publish(h.workers[0], 4)
	h.settle()
	require.Equal(t, []int{1, 2, 3, 4}, a.seen)
	require.Len(t, l.C(), 1)
	require.Equal(t, 1, <-l.C())
	require.EqualValues(t, 3, l.Dropped())
	to.Stop(&h.guests)
	h.settle()
	require.Equal(t, 1, topic.Len(), "one has stopped")
	l.Close()
	require.True(t, topic.Silent())
}
