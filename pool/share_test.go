package pool

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSharedBytesCount: a Carrier's Size tells of bytes that it shares too.
func TestSharedBytesCount(t *testing.T) {
	var s Shard
	var c Carrier
	b := s.Bytes(1000)
	c.Share(&s, b.Slice(100, 300))
	b.Release()
	require.Equal(t, 200, c.Size())
	c.Release()
}
