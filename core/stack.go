package core

import "github.com/stackhouse-go/stackhouse/stack"

// Yield is what a step returns; Return, Throw, Suspend and their kin make one.
type Yield = stack.Yield

// AskStack is one ask in progress: see stack.AskStack.
type AskStack[Req, Rep any] = stack.AskStack[Req, Rep]

// NoticeStack is one notice in progress: see stack.NoticeStack.
type NoticeStack[Msg any] = stack.NoticeStack[Msg]

// BatchAskStack is a run of consecutive asks, handled together.
type BatchAskStack[Req, Rep any] = stack.BatchAskStack[Req, Rep]

// BatchNoticeStack is a run of consecutive notices, handled together.
type BatchNoticeStack[Msg any] = stack.BatchNoticeStack[Msg]

// ChannelStack is one inbound request of a connection.
type ChannelStack[Req, Rep any] = stack.ChannelStack[Req, Rep]

// Peer is who sent such a request: see stack.Peer.
type Peer = stack.Peer

// Room is the answer to a part of a result: see ChannelStack.Part.
type Room = stack.Room

// Future is the slot for one reply, a field of the stack that asks.
type Future[Rep any] = stack.Future[Rep]

// Running is a stack whose step runs: the pointer to a struct that embeds one of the kinds.
type Running = stack.Running

// Suspend ends the step of s; next runs when all that s asked is answered.
func Suspend[A, S any, PS stack.RunningOf[S]](s PS, next func(*A, PS) Yield) Yield {
	return stack.Suspend(s, next)
}

// SuspendAny is Suspend, but next runs at each answer.
func SuspendAny[A, S any, PS stack.RunningOf[S]](s PS, next func(*A, PS) Yield) Yield {
	return stack.SuspendAny(s, next)
}

// SuspendUntil is Suspend, but ready is asked after each answer and next runs when it says yes,
// at the latest when all is answered. It only looks: to ask or to end s in it panics.
func SuspendUntil[A, S any, PS stack.RunningOf[S]](s PS, ready func(*A, PS) bool, next func(*A, PS) Yield) Yield {
	return stack.SuspendUntil(s, ready, next)
}
