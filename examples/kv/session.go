package main

import (
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// session is what the server knows of one connection. Its codec makes it and each
// of its requests refers to it; all of it belongs to the front's worker.
//
// A command changes it in its first step, and takes what it needs of it there: so
// it holds for the commands behind it, however they are pipelined, and for no other.
type session struct {
	id            int64
	began         time.Time
	version       resp.Version
	authenticated bool
	mute          bool // CLIENT REPLY OFF
	skip          bool // CLIENT REPLY SKIP: the next command
	noEvict       bool
	name          string

	queue queue
	width width // of its pipelines
}

// queue is for commands that need several steps before all their messages are sent:
// what their connection sent behind them waits, so that the order per key holds.
//
// A command that waits asks the store that the one before it waits for, for
// nothing: answers of one store come in order, so that its turn has come then, or
// it asks again.
type queue struct {
	busy  bool // a command of several steps is under way
	walks bool // it is a walk
	at    int  // the store whose answer it waits for
	taken uint64
	next  uint64 // Invariant: next <= taken; those between wait
}

// free reports whether a command that comes now may begin.
func (q *queue) free() bool { return !q.busy && q.next == q.taken }

// wait has a command wait for its turn.
//
//go:noinline
func (f *front) wait(s *command) core.Yield {
	q := &s.Req.session.queue
	s.ticket = q.taken
	q.taken++
	return f.askNothing(s)
}

// pollsMax is how often a command asks for its turn at once behind walks: more often than those
// have it ask that end in one go. Later it asks every pollEvery.
const (
	pollsMax  = 2 * inflightMax * storesMax
	pollEvery = time.Millisecond
)

func (f *front) askNothing(s *command) core.Yield {
	if s.Req.session.queue.walks {
		if s.polls++; s.polls > pollsMax {
			core.Timer.Ask(s, &s.pause, pollEvery)
		}
	}
	f.stores.ports[s.Req.session.queue.at].Ask(s, &s.reply, request{do: (*store).nothing})
	return core.Suspend(s, (*front).waited)
}

// waited looks whether the turn has come. A store that didn't answer has failed the
// command in front too, so that there is an end.
func (f *front) waited(s *command) core.Yield {
	q := &s.Req.session.queue
	if q.busy || s.ticket != q.next {
		return f.askNothing(s)
	}
	q.next++
	return f.begin(s)
}

// nothing is what commands ask for that wait.
func (t *store) nothing(*storeStack) resp.Reply { return resp.OK() }

// hold makes the commands behind s wait until release. Its next answer comes from
// a store.
func (s *command) hold(at int) {
	s.Req.session.queue.busy = true
	s.Req.session.queue.at = at
}

func (s *command) release() { s.Req.session.queue.busy, s.Req.session.queue.walks = false, false }
