package giveup

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHook(t *testing.T) {
	var h Hook
	h.Run()
	calls := 0
	f := func() { calls++ }
	h.Set(&f)
	h.Run()
	h.Run()
	require.Equal(t, 1, calls)
}
