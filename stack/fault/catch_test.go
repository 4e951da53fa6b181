package fault

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCatch(t *testing.T) {
	var err error
	Catch("a", "s", &err, func() error { return io.EOF })
	require.Equal(t, io.EOF, err)
	Catch("a", "s", &err, func() error { return nil })
	require.NoError(t, err)

	Catch("a", "s", &err, func() error { panic(io.EOF) })
	require.ErrorIs(t, err, ErrPanic)
	require.ErrorIs(t, err, io.EOF)
	var p *PanicError
	require.True(t, errors.As(err, &p))
	require.Equal(t, "a", p.Actor)
	require.Equal(t, "s", p.Step)
	require.Contains(t, string(p.Trace), "TestCatch")

	ended := make(chan bool)
	go func() {
		defer close(ended)
		Catch("a", "s", &err, func() error { runtime.Goexit(); return nil })
	}()
	<-ended
	require.ErrorContains(t, err, "Goexit")
}
