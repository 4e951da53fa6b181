package channel_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// jobs is a front whose results come in parts, and which has functions read bytes meanwhile.
type jobs struct {
	reader *jobReader
	ask    core.Port[[]byte, int]
	most   atomic.Int64 // bytes that a request held behind a part
}

// jobReader answers before its function has read the request.
type jobReader struct {
	gate chan struct{}
	read chan string
}

type jobReaderStack struct {
	core.AskStack[[]byte, int]
	job  core.Future[int]
	tick core.Future[core.Tick]
}

type jobInput struct {
	b []byte
	r *jobReader
}

func (a *jobReader) ask(s *jobReaderStack) core.Yield {
	core.Offload(s, &s.job, jobInput{s.Req, a}, func(_ context.Context, in jobInput) (int, error) {
		<-in.r.gate
		in.r.read <- string(in.b)
		return 1, nil
	})
	core.Timer.Ask(s, &s.tick, 5*time.Millisecond)
	return core.SuspendAny(s, (*jobReader).done)
}

func (a *jobReader) done(s *jobReaderStack) core.Yield { return s.Return(1) }

func (f *jobs) serve(s *lineStack) core.Yield {
	if s.left, _ = number(s.Req.line); s.left > 0 {
		return f.next(s)
	}
	f.ask.Ask(s, &s.job, s.Copy([]byte("the first bytes")))
	return core.Suspend(s, (*jobs).told)
}

// next has a function run before each part, of many.
func (f *jobs) next(s *lineStack) core.Yield {
	f.most.Store(max(f.most.Load(), int64(stack.InboundOf(stack.Of(s)).Carries())))
	core.Offload(s, &s.job, 1, func(context.Context, int) (int, error) { return 1, nil })
	return core.Suspend(s, (*jobs).part)
}

func (f *jobs) part(s *lineStack) core.Yield {
	text := s.Bytes(1000)
	copy(text, big(1000))
	if s.left--; s.left == 0 {
		return s.Return(reply{text})
	}
	s.Part(&s.room, reply{text})
	return core.Suspend(s, (*jobs).next)
}

func (f *jobs) told(s *lineStack) core.Yield {
	s.Part(&s.room, reply{[]byte("a")})
	return core.Suspend(s, (*jobs).toldMore)
}

func (f *jobs) toldMore(s *lineStack) core.Yield {
	copy(s.Bytes(15), "another's bytes")
	s.Part(&s.room, reply{[]byte("b")})
	return core.Suspend(s, (*jobs).toldAll)
}

func (f *jobs) toldAll(s *lineStack) core.Yield {
	f.reader.gate <- struct{}{}
	return s.Return(reply{[]byte(<-f.reader.read)})
}

var (
	serveJobs    = channel.Handle((*jobs).serve)
	jobReaderAsk = core.Handle((*jobReader).ask)
)

// TestPartsOfBytesThatAreRead: a part that is written releases its bytes, unless somebody may read
// them yet; and a function that has ended reads nothing.
func TestPartsOfBytesThatAreRead(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, nil)
	r := &jobReader{make(chan struct{}), make(chan string, 1)}
	f := &jobs{reader: r, ask: jobReaderAsk.At(core.Spawn(w.system, func() *jobReader { return r }))}
	server, err := channel.Listen(w.ctx, config{Network: "tcp", Address: "127.0.0.1:0", Codec: newLineCodec}, serveJobs,
		core.Spawn(w.system.Workers()[0], func() *jobs { return f }))
	require.NoError(t, err)
	w.server = server
	c := w.dial()
	c.send("0")
	c.expect("a", "b", "the first bytes")
	c.send("500")
	for range 500 {
		c.expect(big(1000))
	}
	require.Less(t, f.most.Load(), int64(10_000))
}
