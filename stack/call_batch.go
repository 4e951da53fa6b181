package stack

import (
	"reflect"
	"unsafe"
)

// BatchMax is how many messages a batch takes unless its handler says otherwise.
const BatchMax = 64

// members is the messages of one batch, chained by next. It stands right behind
// the Stack in both kinds of batch.
type members struct {
	first     *Stack
	n         int
	answering *Stack // while ReturnEach calls the user
}

// batch is the part of a batch that the runtime reads: it doesn't depend on types.
type batch struct {
	Stack
	members members
}

// Len returns the number of members.
func (b *batch) Len() int { return b.members.n }

// Bytes returns n bytes, contents undefined, that live as long as the member that ReturnEach is
// just asking about: its asker reads them after the batch has gone. Elsewhere it panics.
func (b *batch) Bytes(n int) []byte {
	if b.members.answering == nil {
		panic("stack: bytes for the reply of a batch are taken outside ReturnEach")
	}
	return b.members.answering.Bytes(n)
}

// Copy returns a copy of p that lives as long as the member that ReturnEach is
// just asking about. Elsewhere it panics.
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
		i := 0
		for m := s.members.first; m != nil; m = m.next {
			if !yield(i, Message[Msg](m)) {
				return
			}
			i++
		}
	}
}

// Return ends the batch.
func (s *BatchNoticeStack[Msg]) Return() Yield { return s.finish() }

// BatchAskStack is a run of consecutive asks, handled together. Its askers
// can't tell it from single asks.
type BatchAskStack[Req, Rep any] struct{ batch }

func (s *BatchAskStack[Req, Rep]) batchAsk() *BatchAskStack[Req, Rep] { return s }

// All ranges over the requests in order of arrival.
func (s *BatchAskStack[Req, Rep]) All() func(yield func(int, *Req) bool) {
	return func(yield func(int, *Req) bool) {
		i := 0
		for m := s.members.first; m != nil; m = m.next {
			if !yield(i, Request[Req, Rep](m)) {
				return
			}
			i++
		}
	}
}

// ReturnAll ends the batch; every member gets the same reply, which must not hold
// counted bytes: each member would release them.
func (s *BatchAskStack[Req, Rep]) ReturnAll(rep Rep) Yield {
	if s.members.n > 1 && holds[Rep]() {
		panic("stack: ReturnAll of a reply that is released; use ReturnEach")
	}
	y := s.finish()
	for m := s.members.first; m != nil; m = m.next {
		*Reply[Rep](m) = rep
		m.close()
	}
	return y
}

// ReturnEach ends the batch; every member gets the reply or the error that
// answer gives for its request. A reply's bytes come from Bytes or Copy: answers
// of the batch's own futures end with it.
func (s *BatchAskStack[Req, Rep]) ReturnEach(answer func(req *Req) (Rep, error)) Yield {
	for m := s.members.first; m != nil; m = m.next {
		s.members.answering = m
		*Reply[Rep](m), m.err = answer(Request[Req, Rep](m))
		m.close()
	}
	s.members.answering = nil
	return s.finish()
}

// ThrowAll ends the batch; every member gets err. It is Throw under the name
// that says so.
func (s *BatchAskStack[Req, Rep]) ThrowAll(err error) Yield { return s.Throw(err) }

// BatchNoticeOf is satisfied by the pointer to every S that embeds BatchNoticeStack[Msg].
type BatchNoticeOf[S, Msg any] interface {
	RunningOf[S]
	batchNotice() *BatchNoticeStack[Msg]
}

// BatchAskOf is satisfied by the pointer to every S that embeds BatchAskStack[Req, Rep].
type BatchAskOf[S, Req, Rep any] interface {
	RunningOf[S]
	batchAsk() *BatchAskStack[Req, Rep]
}

// NewBatchNotice makes the handler of batches of at most max notices (0: BatchMax).
func NewBatchNotice[A, S, Msg any, PS BatchNoticeOf[S, Msg]](first func(*A, PS) Yield, max int) *Handler {
	var release func(*NoticeStack[Msg])
	if holds[Msg]() {
		release = func(s *NoticeStack[Msg]) { letGo(&s.Msg) }
	}
	member := &Handler{class: classNotice, counts: 1, first: erase(first), actor: reflect.TypeFor[A]()}
	describeMessages[Msg](member)
	member.kind = newKind(member, release)
	return member.batched(newHandler[A, S](classBatch, first, nil), max)
}

// NewBatchAsk makes the handler of batches of at most max asks (0: BatchMax).
func NewBatchAsk[A, S, Req, Rep any, PS BatchAskOf[S, Req, Rep]](first func(*A, PS) Yield, max int) *Handler {
	member := &Handler{class: classAsk, counts: 1, first: erase(first)}
	member.ask.hand = handing[Rep]()
	member.kind = newKind(member, releaseAsk[AskStack[Req, Rep], Req, Rep, *AskStack[Req, Rep]]())
	return member.batched(newHandler[A, S](classBatch, first, nil), max)
}

func (h *Handler) batched(by *Handler, max int) *Handler {
	if max < 0 {
		panic("stack: a batch's maximum is negative")
	}
	if max == 0 {
		max = BatchMax
	}
	h.batch = batchPart{by, max}
	return h
}

func batchOf(s *Stack) *batch { return (*batch)(unsafe.Pointer(s)) }
