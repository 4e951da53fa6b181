package core

import "github.com/stackhouse-go/stackhouse/stack"

// batch is what both kinds of batches have.
type batch struct {
	running
	members stack.Members
}

func (b *batch) of() *stack.Batch { return stack.BatchOf(stack.Of(&b.running)) }

// Len returns the number of messages. They are those that waited when the batch began: no more
// come, and none leaves, also if its asker gives up.
func (b *batch) Len() int { return b.of().Len() }

// Bytes returns n bytes, contents undefined, that live as long as the ask that ReturnEach is just
// asking about: its asker reads them after the batch has gone. Elsewhere it panics: what a batch
// needs for itself is a field of its stack, or, behind a Barrier, of its actor.
func (b *batch) Bytes(n int) []byte { return b.of().Bytes(n) }

// Copy returns a copy of p that lives as Bytes does. Elsewhere it panics.
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

// ReturnAll ends the batch; every ask gets the same reply, which must not hold counted bytes: each
// would release them.
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

// ReturnEach ends the batch; every ask gets the reply or the error that answer gives for its
// request. A reply's bytes come from Bytes or Copy: answers of the batch's own futures end with
// it.
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

// ThrowAll ends the batch; every ask gets err. It is Throw under the name that says so.
func (s *BatchAskStack[Req, Rep]) ThrowAll(err error) Yield { return s.Throw(err) }

// BatchAskOf is satisfied by the pointer to every S that embeds BatchAskStack[Req, Rep].
type BatchAskOf[S, Req, Rep any] interface {
	stack.RunningOf[S]
	batchAsk() *BatchAskStack[Req, Rep]
}
