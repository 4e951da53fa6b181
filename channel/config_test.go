package channel

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type anyConfig = Config[struct{}, struct{}]

func TestConfig(t *testing.T) {
	codec := func() Codec[struct{}, struct{}] { return nil }
	for _, c := range []struct {
		config anyConfig
		want   string
	}{
		{anyConfig{}, "Codec is missing"},
		{anyConfig{Codec: codec, InflightMax: -1}, "InflightMax is negative"},
		{anyConfig{Codec: codec, ReadSize: -1}, "ReadSize is negative"},
		{anyConfig{Codec: codec, InputMax: -1}, "InputMax is negative"},
		{anyConfig{Codec: codec, OutputMax: -1}, "OutputMax is negative"},
		{anyConfig{Codec: codec, PendingMax: -1}, "PendingMax is negative"},
		{anyConfig{Codec: codec, ConnsMax: -1}, "ConnsMax is negative"},
		{anyConfig{Codec: codec, ReadSize: readMax + 1}, "ReadSize is above 65536"},
	} {
		_, err := c.config.validate()
		require.ErrorContains(t, err, c.want)
	}
	got, err := anyConfig{Codec: codec}.validate()
	require.NoError(t, err)
	require.Equal(t, []int{128, 16 << 10, 64 << 20, 128 << 10, 128, 1<<31 - 1}, []int{got.InflightMax, got.ReadSize, got.InputMax, got.OutputMax, got.PendingMax, got.ConnsMax})
	require.Equal(t, []time.Duration{10 * time.Minute, 30 * time.Second}, []time.Duration{got.IdleTimeout, got.WriteTimeout})
	set := anyConfig{Codec: codec, InflightMax: 1, ReadSize: readMax, OutputMax: 3, ConnsMax: 4, IdleTimeout: -1, WriteTimeout: 6}
	got, err = set.validate()
	require.NoError(t, err)
	require.Equal(t, []int{1, readMax, 3, 4}, []int{got.InflightMax, got.ReadSize, got.OutputMax, got.ConnsMax})
	require.Equal(t, []time.Duration{never, 6}, []time.Duration{got.IdleTimeout, got.WriteTimeout})
}

func TestRemaining(t *testing.T) {
	for _, c := range []struct{ timeout, elapsed, want time.Duration }{
		{10, 0, 10},
		{10, 4, 6},
		{10, 10, 10},
		{10, 11, 10},
		{never, 5, timerMax},
		{2 * time.Hour, 0, timerMax},
		{2 * time.Hour, 90 * time.Minute, 30 * time.Minute},
	} {
		require.Equal(t, c.want, remaining(c.timeout, int64(c.elapsed)), c)
	}
}
