package core_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

const manuscript = "bytes that a function reads long after its asker has gone"

// reading is what a function is to read, when the gate is open.
type reading struct {
	bytes []byte
	g     *gate
	saw   chan string
}

func newReading() reading { return reading{g: newGate(), saw: make(chan string, 1)} }

func (r reading) of(b []byte) reading { r.bytes = b; return r }

// readLate tells what it saw, as its answer may find nobody.
func readLate(_ context.Context, r reading) (int, error) {
	r.g.entered <- struct{}{}
	<-r.g.open
	r.saw <- string(r.bytes)
	return 1, nil
}

type (
	// letter is a message with counted bytes.
	letter struct {
		pool.Bytes
		reading
	}
	// lender has bytes read from wherever it has them.
	lender    struct{ scribe core.Port[struct{}, []byte] }
	lenderOwn struct {
		core.AskStack[reading, int]
		f [2]core.Future[int]
	}
	lenderMail struct {
		core.AskStack[letter, int]
		f core.Future[int]
	}
	lenderAnswer struct {
		core.AskStack[reading, int]
		text core.Future[[]byte]
		f    core.Future[int]
	}
	lenderSame struct {
		core.AskStack[reading, int]
		text core.Future[[]byte]
	}
	lenderBatch struct {
		core.BatchAskStack[letter, int]
		f core.Future[int]
	}
	lenderPost struct {
		core.AskStack[reading, int]
		f core.Future[int]
	}
	lenderFill struct{ core.AskStack[int, int] }

	scribe      struct{}
	scribeStack struct {
		core.AskStack[struct{}, []byte]
	}
)

func (l *letter) Release() { l.Bytes.Release() }

func (*scribe) write(s *scribeStack) core.Yield { return s.Return(s.Copy([]byte(manuscript))) }

// endsAtWork returns as soon as the function is at work.
func endsAtWork[S interface{ Return(int) core.Yield }](s S, r reading) core.Yield {
	<-r.g.entered
	return s.Return(1)
}

func (*lender) own(s *lenderOwn) core.Yield {
	core.Offload(s, &s.f[0], s.Req.of(s.Copy([]byte(manuscript))), readLate)
	return endsAtWork(s, s.Req)
}

// given has bytes read that the call that was forwarded has.
func (*lender) given(s *lenderOwn) core.Yield {
	core.Offload(s, &s.f[0], s.Req, readLate)
	return endsAtWork(s, s.Req)
}

// waits doesn't end before its deadline.
func (*lender) waits(s *lenderOwn) core.Yield {
	core.Offload(s, &s.f[0], s.Req.of(s.Copy([]byte(manuscript))), readLate)
	<-s.Req.g.entered
	return core.Suspend(s, (*lender).waited)
}

func (*lender) waited(s *lenderOwn) core.Yield {
	_, err := s.f[0].Get()
	return s.Throw(err)
}

// twice has a second function, which ends first.
func (*lender) twice(s *lenderOwn) core.Yield {
	core.Offload(s, &s.f[0], s.Req.of(s.Copy([]byte(manuscript))), readLate)
	core.Offload(s, &s.f[1], 1, double)
	return core.SuspendAny(s, (*lender).once)
}

func (*lender) once(s *lenderOwn) core.Yield { return endsAtWork(s, s.Req) }

func (*lender) mail(s *lenderMail) core.Yield {
	core.Offload(s, &s.f, s.Req.of(s.Req.B()), readLate)
	return endsAtWork(s, s.Req.reading)
}

func (c *lender) answer(s *lenderAnswer) core.Yield {
	c.scribe.Ask(s, &s.text, struct{}{})
	return core.Suspend(s, (*lender).answered)
}

func (c *lender) answered(s *lenderAnswer) core.Yield {
	b, _ := s.text.Get()
	core.Offload(s, &s.f, s.Req.of(b), readLate)
	return endsAtWork(s, s.Req)
}

func (c *lender) askAgain(s *lenderAnswer) core.Yield {
	c.scribe.Ask(s, &s.text, struct{}{})
	return core.Suspend(s, (*lender).askedAgain)
}

func (c *lender) askedAgain(s *lenderAnswer) core.Yield {
	b, _ := s.text.Get()
	core.Offload(s, &s.f, s.Req.of(b), readLate)
	c.scribe.Ask(s, &s.text, struct{}{})
	return core.SuspendAny(s, (*lender).gotAgain)
}

func (c *lender) gotAgain(s *lenderAnswer) core.Yield {
	if s.text.Waiting() {
		return core.SuspendAny(s, (*lender).gotAgain)
	}
	return endsAtWork(s, s.Req)
}

// same has a function whose result goes where the bytes are that it reads.
func (c *lender) same(s *lenderSame) core.Yield {
	c.scribe.Ask(s, &s.text, struct{}{})
	return core.Suspend(s, (*lender).sameAgain)
}

func (c *lender) sameAgain(s *lenderSame) core.Yield {
	b, _ := s.text.Get()
	core.Offload(s, &s.text, s.Req.of(b), func(ctx context.Context, r reading) ([]byte, error) {
		_, err := readLate(ctx, r)
		return nil, err
	})
	return endsAtWork(s, s.Req)
}

func (*lender) batch(s *lenderBatch) core.Yield {
	for _, l := range s.All() {
		core.Offload(s, &s.f, l.of(l.B()), readLate)
		<-l.g.entered
	}
	return s.ReturnAll(1)
}

// post asks itself with counted bytes.
func (*lender) post(s *lenderPost) core.Yield    { return posts(s, lenderMails) }
func (*lender) batched(s *lenderPost) core.Yield { return posts(s, lenderBatches) }

func posts(s *lenderPost, by core.Handler[lender, letter, int]) core.Yield {
	b := stack.Of(s).Engine().Shard.Copy([]byte(manuscript))
	by.At(core.Self[lender](s)).Ask(s, &s.f, letter{b, s.Req})
	return core.Suspend(s, (*lender).posted)
}

func (*lender) posted(s *lenderPost) core.Yield {
	n, err := s.f.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

// fill writes over what bytes there are.
func (*lender) fill(s *lenderFill) core.Yield {
	for range s.Req {
		b := s.Bytes(len(manuscript))
		for i := range b {
			b[i] = '!'
		}
	}
	return s.Return(1)
}

var (
	lenderMails, lenderBatches core.Handler[lender, letter, int]

	scribeWrite = core.Handle((*scribe).write)
	lenderFills = core.Handle((*lender).fill)
)

func init() { // which refer to themselves
	lenderMails = core.Handle((*lender).mail)
	lenderBatches = core.HandleBatch((*lender).batch, 0)
}

// TestOffloadedBytesLive: what a function reads of its asker's bytes isn't used again before it
// has returned, whatever has become of the asker.
func TestOffloadedBytesLive(t *testing.T) {
	forwards := core.Handle(func(c *lender, s *lenderOwn) core.Yield {
		return core.Handle((*lender).own).At(core.Self[lender](s)).Forward(s, s.Req)
	})
	gives := core.Handle(func(c *lender, s *lenderOwn) core.Yield {
		return core.Handle((*lender).given).At(core.Self[lender](s)).Forward(s, s.Req.of(s.Copy([]byte(manuscript))))
	})
	for name, by := range map[string]core.Handler[lender, reading, int]{
		"of the stack":             core.Handle((*lender).own),
		"of a stack past deadline": core.Handle((*lender).waits),
		"of two functions":         core.Handle((*lender).twice),
		"of a forwarded call":      forwards,
		"of who forwarded":         gives,
		"of the message":           core.Handle((*lender).post),
		"of a batch's message":     core.Handle((*lender).batched),
		"of an answer":             core.Handle((*lender).answer),
		"of an answer asked again": core.Handle((*lender).askAgain),
		"of the answer before":     core.Handle((*lender).same),
	} {
		t.Run(name, func(t *testing.T) {
			sys := open(t, house.Config{Workers: 1})
			sc := core.Spawn(sys, func() *scribe { return &scribe{} })
			a := core.Spawn(sys, func() *lender { return &lender{scribeWrite.At(sc)} })
			r := newReading()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			if _, err := core.Ask(ctx, by.At(a), r); err != nil {
				require.Equal(t, core.ErrTimeout, err)
			}
			for range 20 { // the first at the latest is behind the end of the asker
				_, err := core.Ask(t.Context(), lenderFills.At(a), 100)
				require.NoError(t, err)
			}
			close(r.g.open)
			require.Equal(t, manuscript, <-r.saw)
		})
	}
}
