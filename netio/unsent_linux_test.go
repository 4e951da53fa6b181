//go:build !portable

package netio

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnsent(t *testing.T) {
	a, b := newFixture(t, 8).pair()
	unsent := func() int {
		n, known := Unsent(a)
		require.True(t, known)
		return n
	}
	require.Zero(t, unsent())
	_, err := Write(a, make([]byte, 100))
	require.NoError(t, err)
	require.GreaterOrEqual(t, unsent(), 100)
	_, err = Read(b, make([]byte, 200))
	require.NoError(t, err)
	require.Zero(t, unsent())
	_, known := Unsent(-1)
	require.False(t, known)
}
