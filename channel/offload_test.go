package channel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

// late is what the function waits for that the request "late" has begun, and what it reads then.
var late struct {
	began, open chan struct{}
	saw         chan string
}

// readLate has its line read behind its result.
func (f *front) readLate(s *lineStack) core.Yield {
	core.Offload(s, &s.job, s.Req.line, func(_ context.Context, line []byte) (int, error) {
		close(late.began)
		<-late.open
		late.saw <- string(line)
		return 1, nil
	})
	<-late.began
	return s.Return(reply{s.Req.line})
}

// keepLine has its line kept, and notes that it was.
func (f *front) keepLine(s *lineStack) core.Yield {
	core.OffloadKept(s, &s.job, nil, s.Req.line, func(_ context.Context, line []byte) (int, error) {
		close(late.began)
		<-late.open
		return len(line), nil
	})
	return core.Suspend(s, (*front).keptLine)
}

func (f *front) keptLine(s *lineStack) core.Yield {
	n, err := s.job.Get()
	late.saw <- fmt.Sprint(string(s.Req.line), " ", n, " ", err)
	return s.Return(reply{s.Req.line})
}

// TestRequestKeepsAFunction: the client has gone, which ends its other request, and this one goes
// on behind the function.
func TestRequestKeepsAFunction(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		late.began, late.open, late.saw = make(chan struct{}), make(chan struct{}), make(chan string, 1)
		w := openWorld(t, p, nil)
		c := w.dial()
		c.send("mark", "never", "keep bytes")
		<-late.began
		c.arrived()
		c.reset()
		w.await("the other request ended", func() bool { return w.system.Stats().Cancelled == 1 })
		close(late.open)
		require.Equal(t, "keep bytes 10 <nil>", <-late.saw)
	})
}

// TestOffloadedRequestLives: what a function reads of a request isn't received into again before it
// has returned.
func TestOffloadedRequestLives(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		late.began, late.open, late.saw = make(chan struct{}), make(chan struct{}), make(chan string, 1)
		w := openWorld(t, p, nil)
		c := w.dial()
		c.send("late bytes")
		c.expect("late bytes")
		for range 20 {
			c.send(strings.Repeat("x", 40))
			c.expect(strings.Repeat("x", 40))
		}
		close(late.open)
		require.Equal(t, "late bytes", <-late.saw)
	})
}
