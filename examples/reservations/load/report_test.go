package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReport(t *testing.T) {
	r := &report{during: time.Second, changes: 300, writes: 20}
	require.InDelta(t, 15.0, r.perWrite(), 1e-9)
	require.Zero(t, r.at(999))
	for i := range 1001 {
		r.took = append(r.took, time.Duration(i)*time.Millisecond)
	}
	require.Equal(t, 500*time.Millisecond, r.at(500))
	require.Equal(t, 999*time.Millisecond, r.at(999))
	require.Zero(t, (&report{}).perWrite())
}
