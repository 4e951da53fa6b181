package stack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRungsInOrder: the house that was rung for first is visited first.
func TestRungsInOrder(t *testing.T) {
	h := newHand(t, 1)
	var visited []int
	for i := range 5 {
		tell(h, settleOn(h, 0, &writer{}), writerWrite, func(*Engine) { visited = append(visited, i) })
	}
	h.turn(0)
	require.Equal(t, []int{0, 1, 2, 3, 4}, visited)
}
