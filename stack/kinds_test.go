package stack

import (
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/order"
)

// This file has the kinds of stacks of core, as far as tests of this package need them. Unlike
// core's they embed the Stack itself.

type testAnswer[Rep any] struct {
	Stack
	_   pool.Carrier // lent
	rep Rep
}

// AskStack is core.AskStack.
type AskStack[Req, Rep any] struct {
	testAnswer[Rep]
	Req Req
}

func (s *AskStack[Req, Rep]) ask() *AskStack[Req, Rep] { return s }

func (s *AskStack[Req, Rep]) Return(rep Rep) Yield {
	y := Of(s).End()
	s.rep = rep
	return y
}

type askOf[S, Req, Rep any] interface {
	RunningOf[S]
	ask() *AskStack[Req, Rep]
}

func newAsk[A, S, Req, Rep any, PS askOf[S, Req, Rep]](first func(*A, PS) Yield, around ...Middleware) *Handler {
	return NewAsk[Req, Rep](EntryOf(first), around...)
}

// NoticeStack is core.NoticeStack.
type NoticeStack[Msg any] struct {
	Stack
	Msg Msg
}

func (s *NoticeStack[Msg]) notice() *NoticeStack[Msg] { return s }
func (s *NoticeStack[Msg]) Return() Yield             { return Of(s).End() }

type noticeOf[S, Msg any] interface {
	RunningOf[S]
	notice() *NoticeStack[Msg]
}

func newNotice[A, S, Msg any, PS noticeOf[S, Msg]](first func(*A, PS) Yield, around ...Middleware) *Handler {
	return NewNotice[Msg](EntryOf(first), around...)
}

type testBatch struct {
	Stack
	_ Members
}

func (b *testBatch) Len() int           { return BatchOf(&b.Stack).Len() }
func (b *testBatch) Bytes(n int) []byte { return BatchOf(&b.Stack).Bytes(n) }
func (b *testBatch) Copy(p []byte) []byte {
	c := b.Bytes(len(p))
	copy(c, p)
	return c
}

// BatchNoticeStack is core.BatchNoticeStack.
type BatchNoticeStack[Msg any] struct{ testBatch }

func (s *BatchNoticeStack[Msg]) batchNotice() *BatchNoticeStack[Msg] { return s }
func (s *BatchNoticeStack[Msg]) Return() Yield                       { return Of(s).End() }

func (s *BatchNoticeStack[Msg]) All() func(yield func(int, *Msg) bool) {
	return func(yield func(int, *Msg) bool) {
		i, b := 0, BatchOf(Of(s))
		for m := b.First(); m != nil && yield(i, Message[Msg](m)); m = b.After(m) {
			i++
		}
	}
}

type batchNoticeOf[S, Msg any] interface {
	RunningOf[S]
	batchNotice() *BatchNoticeStack[Msg]
}

func newBatchNotice[A, S, Msg any, PS batchNoticeOf[S, Msg]](first func(*A, PS) Yield, max int) *Handler {
	return NewBatchNotice[Msg](EntryOf(first), max)
}

// BatchAskStack is core.BatchAskStack.
type BatchAskStack[Req, Rep any] struct{ testBatch }

func (s *BatchAskStack[Req, Rep]) batchAsk() *BatchAskStack[Req, Rep] { return s }

func (s *BatchAskStack[Req, Rep]) ReturnEach(answer func(req *Req) (Rep, error)) Yield {
	b := BatchOf(Of(s))
	for m := b.First(); m != nil; m = b.After(m) {
		b.Ask(m)
		rep, err := answer(Request[Req, Rep](m))
		*Reply[Rep](m) = rep
		b.Answer(m, err)
	}
	b.Ask(nil)
	return b.End()
}

type batchAskOf[S, Req, Rep any] interface {
	RunningOf[S]
	batchAsk() *BatchAskStack[Req, Rep]
}

func newBatchAsk[A, S, Req, Rep any, PS batchAskOf[S, Req, Rep]](first func(*A, PS) Yield, max int) *Handler {
	return NewBatchAsk[Req, Rep](EntryOf(first), max)
}

// ChannelStack is core.ChannelStack.
type ChannelStack[Req, Rep any] struct {
	state InboundState
	testAnswer[Rep]
	Req Req
}

func (s *ChannelStack[Req, Rep]) channel() *ChannelStack[Req, Rep] { return s }

func (s *ChannelStack[Req, Rep]) Return(rep Rep) Yield {
	y := Of(s).End()
	s.rep = rep
	return y
}

func (s *ChannelStack[Req, Rep]) ReturnLast(rep Rep) Yield {
	s.state.Last = true
	return s.Return(rep)
}

type channelOf[S, Req, Rep any] interface {
	RunningOf[S]
	channel() *ChannelStack[Req, Rep]
}

func newChannel[A, S, Req, Rep any, PS channelOf[S, Req, Rep]](first func(*A, PS) Yield, parted, finish func(*Inbound)) *Handler {
	return NewInbound[Req, Rep](EntryOf(first), parted, finish)
}

// FanStack is the type that core's fans embed.
type FanStack[Req, Rep any] struct {
	_ FanState
	AskStack[Req, Rep]
}

func (s *FanStack[Req, Rep]) Keep() { s.KeepAnswers() }

// What is done with messages to a full mailbox.
const (
	Reject     = order.Reject
	DropNewest = order.DropNewest
	DropOldest = order.DropOldest
)

// notify sends a notice, as core.NoticePort does in steps.
func notify[Msg any](w *Engine, h *House, by *Handler, msg Msg) error {
	if h.owner.Load() == w {
		if w.Joins(h, by) {
			at, i := h.Join()
			*Place[Msg](at, i) = msg
			return nil
		}
		if at := w.Tell(h, by); at != nil {
			*Place[Msg](at, 0) = msg
			return nil
		}
	}
	return TellOtherwise(w, h, by, &msg)
}
