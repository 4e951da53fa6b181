package order

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRules(t *testing.T) {
	for _, c := range []struct{ max, worker, limit, bound int }{
		{0, 0, LimitLarge, math.MaxInt},
		{0, 10, 10, 10},
		{0, 1 << 20, LimitLarge, 1 << 20},
		{7, 10, 7, 7},
		{LimitLarge - 1, 10, LimitLarge - 1, LimitLarge - 1},
		{LimitLarge, 10, LimitLarge, LimitLarge},
		{1 << 20, 10, LimitLarge, 1 << 20},
		{-1, 10, LimitLarge, math.MaxInt},
	} {
		limit := Limit(c.worker)
		if c.max != 0 {
			limit = Limit(c.max)
		}
		require.EqualValues(t, c.limit, limit, c)
		require.Equal(t, c.bound, (&Rules[int]{Max: c.max}).Bound(limit, c.worker), c)
	}
	require.True(t, (&Rules[int]{Max: 3}).Plain())
	require.False(t, (&Rules[int]{Full: DropNewest}).Plain())
	require.False(t, (&Rules[int]{Sort: func() Mailbox[int] { return nil }}).Plain())
}
