package channel_test

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// front serves the connections of one worker of these tests:
//
//	x...          answers x... at once
//	after N x     answers x in N ms
//	hold K x      has the keeper hold it until K is let go, then answers x
//	never         doesn't answer
//	big N         answers N bytes
//	last x        answers x and closes
//	lastbig N     answers N bytes that its stack doesn't hold, and closes
//	late x        answers with the line; a function reads it later
//	keep x        has a function keep it, and answers with the line
//	part x|line   answers x as a part, then goes on as if line had come
//	parts N M     answers N parts of M bytes
//	hasty x       offers x as a part, then ends with an error without a wait for room
//	keptpart x|y  keeps a function, then offers a part, and notes that it goes on behind that
//	keptend x     keeps a function until the gate opens, offers a part, and ends with x
//	alone x|line  is part x|line, while nothing else of the front begins
//	solo line     goes on as if line had come, if it is the only request in flight, and is so when
//	              the line is answered
//	throw x       ends with the error x
//	panic         panics
//	later         panics in its second step
//	whose x       looks who sent it, then answers with the line
//	push x        sends x to its peer, then answers with the line
//	tell N        sends ~ and N bytes to its peer, then answers with the line once that was taken
//	watch         has a lookout watch its peer, then answers
//	worker        answers the number of the worker
//	sleep N       takes N ms of the worker's time, then answers with the line
//	block         blocks the worker until the gate is open, then answers
//
// A number that stands before is the codec's, see numberCodec.
type front struct {
	keeper  core.Port[hold, struct{}]
	gate    <-chan struct{}
	blocked *atomic.Int64
	parts   *atomic.Int64    // offered
	conns   []any            // every connection that sent a "mark"
	peer    core.Peer[reply] // who last asked whose
	joins   core.NoticePort[joining]
	far     *channel.ConnectConfig[front, request, reply] // of connections of its own
}

type lineStack struct {
	core.ChannelStack[request, reply]
	rest []byte
	tick core.Future[core.Tick]
	held core.Future[struct{}]
	job  core.Future[int]
	room core.Future[core.Room]
	left int // parts

	written core.Future[core.Written]
	isSolo  bool // since it began
}

var serve = channel.Handle((*front).serve)

func (f *front) serve(s *lineStack) core.Yield {
	s.rest = s.Req.line[len(numberOf(s.Req.line)):]
	return f.do(s)
}

// do does what s.rest says.
func (f *front) do(s *lineStack) core.Yield {
	line := s.rest
	verb, rest, _ := bytes.Cut(line, space)
	switch string(verb) {
	case "after":
		n, rest := number(rest)
		s.rest = rest
		core.Timer.Ask(s, &s.tick, time.Duration(n)*time.Millisecond)
		return core.Suspend(s, (*front).ticked)
	case "never":
		core.Timer.Ask(s, &s.tick, time.Hour)
		return core.Suspend(s, (*front).ticked)
	case "hold":
		n, rest := number(rest)
		s.rest = rest
		f.keeper.Ask(s, &s.held, hold{key: n})
		return core.Suspend(s, (*front).letGo)
	case "big":
		n, _ := number(rest)
		text := s.Bytes(n)
		for i := range text {
			text[i] = 'a' + byte(i%26)
		}
		return s.Return(reply{text})
	case "part":
		return f.part(s, rest)
	case "alone":
		s.Barrier()
		return f.part(s, rest)
	case "solo":
		s.rest = rest
		if s.isSolo = isAlone(s); !s.isSolo {
			return s.Throw(errNotAlone)
		}
		return f.do(s)
	case "keptpart":
		core.OffloadKept(s, &s.job, nil, rest, func(context.Context, []byte) (int, error) {
			close(late.began)
			<-late.open
			return 0, nil
		})
		return core.Suspend(s, (*front).keptPart)
	case "keptend":
		core.OffloadKept(s, &s.job, nil, rest, func(context.Context, []byte) (int, error) {
			<-f.gate
			return 0, nil
		})
		s.Part(&s.room, reply{[]byte("dropped")})
		f.parts.Add(1)
		return s.Return(reply{rest})
	case "parts":
		s.left, s.rest = number(rest)
		return f.nextPart(s)
	case "hasty":
		s.Part(&s.room, reply{rest})
		core.Timer.Ask(s, &s.tick, 0)
		return core.SuspendAny(s, (*front).hurries)
	case "late":
		return f.readLate(s)
	case "keep":
		return f.keepLine(s)
	case "lastbig":
		n, _ := number(rest)
		text := make([]byte, n)
		for i := range text {
			text[i] = 'a' + byte(i%26)
		}
		return s.ReturnLast(reply{text})
	case "last":
		return s.ReturnLast(reply{rest})
	case "throw":
		return s.Throw(errors.New(string(rest)))
	case "panic":
		panic("the handler " + string(rest))
	case "later":
		core.Timer.Ask(s, &s.tick, 0)
		return core.Suspend(s, (*front).panics)
	case "whose":
		f.peer = s.Peer()
	case "push":
		if err := s.Peer().Notice(s, reply{rest}); err != nil {
			return s.Throw(err)
		}
	case "tell":
		n, _ := number(rest)
		text := s.Bytes(1 + n)
		for i := range text {
			text[i] = "~t"[min(i, 1)]
		}
		s.Peer().Ask(s, &s.written, reply{text})
		return core.Suspend(s, (*front).told)
	case "watch":
		f.joins.Notice(s, joining{s.Peer()})
	case "worker":
		return s.Return(reply{strconv.AppendInt(s.Bytes(8)[:0], int64(stack.Of(s).Engine().Index), 10)})
	case "sleep":
		n, _ := number(rest)
		time.Sleep(time.Duration(n) * time.Millisecond)
	case "block":
		f.blocked.Add(1)
		<-f.gate
	case "mark":
		f.conns = append(f.conns, stack.InboundOf(stack.Of(s)).Conn)
	}
	return s.Return(reply{line})
}

var space = []byte(" ")

// number cuts a number off the front of line.
func number(line []byte) (n int, rest []byte) {
	digits, rest, _ := bytes.Cut(line, space)
	n, _ = strconv.Atoi(string(digits))
	return n, rest
}

func (f *front) told(s *lineStack) core.Yield { return f.answer(s) }

func (f *front) ticked(s *lineStack) core.Yield { return f.answer(s) }

// answer answers with what is left of the line.
func (f *front) answer(s *lineStack) core.Yield {
	if s.isSolo && !isAlone(s) {
		return s.Throw(errNotAlone)
	}
	return s.Return(reply{s.rest})
}

// isAlone reports whether a request is the only one in flight of its connection.
func isAlone(s *lineStack) bool {
	return channel.Holds[request, reply](stack.InboundOf(stack.Of(s)).Conn).Inflight == 1
}

var errNotAlone = errors.New("not alone")

func (f *front) panics(*lineStack) core.Yield { panic("the handler, later") }

func (f *front) letGo(s *lineStack) core.Yield {
	if _, err := s.held.Get(); err != nil {
		return s.Throw(err)
	}
	return f.answer(s)
}

// lastPeerStack asks a front who last asked whose.
type lastPeerStack struct {
	core.AskStack[struct{}, channel.Peer[reply]]
}

var frontPeer = core.Handle((*front).whose)

func (f *front) whose(s *lastPeerStack) core.Yield { return s.Return(f.peer) }

// peek asks a front what its marked connections hold.
type peekStack struct {
	core.AskStack[struct{}, channel.Held]
}

var frontPeek = core.Handle((*front).peek)

// napStack waits for a timer that is due at once: a turn may take many asks of a
// goroutine that is fast, but fires timers once.
type napStack struct {
	core.AskStack[struct{}, struct{}]
	tick core.Future[core.Tick]
}

var frontNap = core.Handle((*front).nap)

func (f *front) nap(s *napStack) core.Yield {
	core.Timer.Ask(s, &s.tick, 0)
	return core.Suspend(s, (*front).woke)
}

func (f *front) woke(s *napStack) core.Yield { return s.Return(struct{}{}) }

func (f *front) peek(s *peekStack) core.Yield {
	var most channel.Held
	for _, c := range f.conns {
		most = most.Max(channel.Holds[request, reply](c))
	}
	return s.Return(most)
}

// keeper holds asks until their key is let go.
type keeper struct {
	open    map[int]bool
	holding atomic.Int64 // asks begun
	freed   *atomic.Int64
}

// hold asks a keeper to answer when key was let go.
type hold struct {
	key   int
	freed *atomic.Int64
}

// Release counts the asks whose stacks went home.
func (h *hold) Release() {
	if h.freed != nil {
		h.freed.Add(1)
	}
}

type holdStack struct {
	core.AskStack[hold, struct{}]
	tick core.Future[core.Tick]
}

var (
	keeperHold = core.Handle((*keeper).hold)
	keeperOpen = core.Handle((*keeper).letGo)
)

// hold begins; its stack tells when it went home.
func (k *keeper) hold(s *holdStack) core.Yield {
	if s.Req.key < 0 {
		panic("a bad request")
	}
	k.holding.Add(1)
	s.Req.freed = k.freed
	return k.wait(s)
}

func (k *keeper) wait(s *holdStack) core.Yield {
	if k.open[s.Req.key] {
		return s.Return(struct{}{})
	}
	core.Timer.Ask(s, &s.tick, time.Millisecond)
	return core.Suspend(s, (*keeper).wait)
}

type openStack struct{ core.AskStack[int, struct{}] }

// letGo answers what is held under a key, now and later.
func (k *keeper) letGo(s *openStack) core.Yield {
	k.open[s.Req] = true
	return s.Return(struct{}{})
}

// part offers what stands before the bar.
func (f *front) part(s *lineStack, text []byte) core.Yield {
	part, rest, _ := bytes.Cut(text, bar)
	s.rest = rest
	f.parts.Add(1)
	s.Part(&s.room, reply{part})
	return core.Suspend(s, (*front).do)
}

var bar = []byte("|")

// nextPart offers another one, or the last.
func (f *front) nextPart(s *lineStack) core.Yield {
	n, _ := number(s.rest)
	text := s.Bytes(n)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	f.parts.Add(1)
	if s.left--; s.left == 0 {
		return s.Return(reply{text})
	}
	s.Part(&s.room, reply{text})
	return core.Suspend(s, (*front).nextPart)
}

func (f *front) keptPart(s *lineStack) core.Yield {
	f.parts.Add(1)
	s.Part(&s.room, reply{s.Req.line})
	return core.Suspend(s, (*front).wentOn)
}

func (f *front) wentOn(s *lineStack) core.Yield {
	late.saw <- "went on"
	return s.Return(reply{s.Req.line})
}

func (f *front) hurries(s *lineStack) core.Yield { return s.Throw(errHasty) }

var errHasty = errors.New("hasty")
