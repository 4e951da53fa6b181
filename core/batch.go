package core

import "github.com/stackhouse-go/stackhouse/stack"

// batch is what both kinds of batches have in common.
type batch struct {
	running
	members stack.Members
}

func (b *batch) of() *stack.Batch { return stack.BatchOf(stack.Of(&b.running)) }

// Len returns the number of messages: those that waited when the batch began. None is added later,
// and none leaves, even if its asker gives up.
func (b *batch) Len() int { return b.of().Len() }

// Bytes returns n bytes, contents undefined, for the reply to the ask that ReturnEach's function is
// called for. They live until its asker no longer needs the answer. Outside that function it
// panics: memory for the batch itself is a field of its stack or, with a Barrier, of its actor.
func (b *batch) Bytes(n int) []byte { return b.of().Bytes(n) }

// Copy returns a copy of p that lives as long as the reply; see Bytes. Outside ReturnEach's
// function it panics.
func (b *batch) Copy(p []byte) []byte {
	c := b.Bytes(len(p))
	copy(c, p)
	return c
}

// BatchNoticeStack is a run of consecutive notices, handled together.
type BatchNoticeStack[Msg any] struct{ batch }

func (s *BatchNoticeStack[Msg]) batchNotice() *BatchNoticeStack[Msg] { return s }

// All ranges over the messages in order of arrival.
func (s *BatchNoticeStack[Msg]) All() func(yield func(int, *Msg) bool) {
	return func(yield func(int, *Msg) bool) {
		i, b := 0, s.of()
		for m := b.First(); m != nil; m = b.After(m) {
			if !yield(i, stack.Message[Msg](m)) {
				return
			}
			i++
		}
	}
}

// Return ends the batch.
func (s *BatchNoticeStack[Msg]) Return() Yield { return stack.End(&s.head) }

// BatchNoticeOf is satisfied by the pointer to every S that embeds BatchNoticeStack[Msg].
type BatchNoticeOf[S, Msg any] interface {
	stack.RunningOf[S]
	batchNotice() *BatchNoticeStack[Msg]
}

// BatchAskStack is a run of consecutive asks, handled together. Its askers can't tell it from
// single asks.
type BatchAskStack[Req, Rep any] struct{ batch }

func (s *BatchAskStack[Req, Rep]) batchAsk() *BatchAskStack[Req, Rep] { return s }

// All ranges over the requests in order of arrival.
func (s *BatchAskStack[Req, Rep]) All() func(yield func(int, *Req) bool) {
	return func(yield func(int, *Req) bool) {
		i, b := 0, s.of()
		for m := b.First(); m != nil; m = b.After(m) {
			if !yield(i, stack.Request[Req, Rep](m)) {
				return
			}
			i++
		}
	}
}

// ReturnAll ends the batch; every ask gets the same reply. The reply must not have a Release
// method, as each ask would release it: use ReturnEach.
func (s *BatchAskStack[Req, Rep]) ReturnAll(rep Rep) Yield {
	b := s.of()
	if _, holds := any((*Rep)(nil)).(stack.Releaser); holds && b.Len() > 1 {
		panic("core: ReturnAll of a reply that is released; use ReturnEach")
	}
	y := b.End()
	for m := b.First(); m != nil; m = b.After(m) {
		*stack.Reply[Rep](m) = rep
		b.Answer(m, nil)
	}
	return y
}

// ReturnEach ends the batch; every ask gets the reply or the error that answer returns for its
// request. Bytes in a reply come from Bytes or Copy: bytes in the batch's own futures end with the
// batch.
func (s *BatchAskStack[Req, Rep]) ReturnEach(answer func(req *Req) (Rep, error)) Yield {
	b := s.of()
	for m := b.First(); m != nil; m = b.After(m) {
		b.Ask(m)
		rep, err := answer(stack.Request[Req, Rep](m))
		*stack.Reply[Rep](m) = rep
		b.Answer(m, err)
	}
	b.Ask(nil)
	return b.End()
}

// ThrowAll ends the batch; every ask gets err. It is the same as Throw.
func (s *BatchAskStack[Req, Rep]) ThrowAll(err error) Yield { return s.Throw(err) }

// BatchAskOf is satisfied by the pointer to every S that embeds BatchAskStack[Req, Rep].
type BatchAskOf[S, Req, Rep any] interface {
	stack.RunningOf[S]
	batchAsk() *BatchAskStack[Req, Rep]
}
