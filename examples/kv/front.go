package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// front serves the connections of one worker.
type front struct {
	service *service
	stores  *stores
	dice    dice
}

var frontServe = channel.Handle((*front).serve)

// inbound is one request of a connection: a command, or a pipeline of them.
type inbound struct {
	resp.Command // the first one
	session      *session
	pipeline     pipeline
	bytes        []byte // of the pipeline
}

// command is one request in progress.
type command struct {
	core.ChannelStack[inbound, resp.Reply]
	reply   core.Future[resp.Reply]            // of the one store asked
	parts   [storesMax]core.Future[resp.Reply] // of each store, for commands on many keys
	merge   func(f *front, s *command) resp.Reply
	ticket  uint64 // see queue
	polls   int    // of its turn
	pause   core.Future[core.Tick]
	version resp.Version
	mute    bool // nobody wants the reply

	// Of a pipeline.

	muted   share // nobody wants their replies
	refused share // not for any store
	refusal string
}

// serve is the first step of every command.
func (f *front) serve(s *command) core.Yield {
	if !s.Req.session.queue.free() {
		return f.wait(s)
	}
	return f.begin(s)
}

// begin does a command, or a pipeline, whose turn it is.
func (f *front) begin(s *command) core.Yield {
	if s.Req.pipeline.n > 0 {
		return f.beginAll(s)
	}
	c, cmd := s.Req.session, &s.Req.Command
	s.version, s.mute = c.version, c.mute || c.skip
	c.skip = false
	e := lookup(cmd.Arg(0))
	if e == nil {
		return s.answer(unknown(cmd))
	}
	if e.subs != nil && cmd.Len() > 1 {
		container := e
		if e = e.sub(cmd.Arg(1)); e == nil {
			return s.answer(unknownSub(container, cmd.Arg(1)))
		}
	}
	if !e.takes(cmd.Len()) {
		return s.answer(arity(e))
	}
	if !c.authenticated && e.traits&open == 0 {
		return s.answer(resp.Err(errNoAuth))
	}
	if e.traits&grows != 0 && f.stores.memory.full() {
		return s.answer(resp.Err(errMemory))
	}
	if e.pairs && cmd.Len()%2 == 0 {
		return s.answer(arity(e))
	}
	if e.run != nil {
		return e.run(f, s)
	}
	long := c.isLong(e, cmd)
	if e.merge == nil || (e.sums && cmd.Len() == 2) {
		if long {
			return f.walk(s, f.stores.of(cmd.Arg(1)))
		}
		f.stores.ports[f.stores.of(cmd.Arg(max(e.key, 1)))].Ask(s, &s.reply, f.request(s, e.do))
		return core.Suspend(s, (*front).answered)
	}
	s.merge = e.merge
	if long {
		return f.walkAll(s)
	}
	return f.askAll(s, e.do, (*front).merged)
}

// request makes the message to a store: the bytes of the whole command.
func (f *front) request(s *command, do func(t *store, s *storeStack) resp.Reply) request {
	return request{do: do, bytes: s.Keep(s.Req.Raw()), version: s.version}
}

// askAll asks every store.
func (f *front) askAll(s *command, do func(t *store, s *storeStack) resp.Reply, next func(*front, *command) core.Yield) core.Yield {
	for i := range f.stores.ports {
		f.stores.ports[i].Ask(s, &s.parts[i], f.request(s, do))
	}
	return core.Suspend(s, next)
}

// answered passes a store's reply on.
func (f *front) answered(s *command) core.Yield {
	rep, err := s.reply.Get()
	if err != nil {
		return s.fail(err)
	}
	s.Req.session.width.adapt(len(rep.Str))
	return s.answer(rep)
}

// merged puts the replies of all stores together.
func (f *front) merged(s *command) core.Yield {
	if rep, failed := f.failed(s); failed {
		return s.answer(rep)
	}
	return s.answer(s.merge(f, s))
}

// failed returns what went wrong at a store.
func (f *front) failed(s *command) (rep resp.Reply, failed bool) {
	for i := range f.stores.ports {
		rep, err := s.parts[i].Get()
		if err != nil {
			return resp.Err(failure(err)), true
		}
		if rep.Kind == resp.KindError {
			return rep, true
		}
	}
	return resp.Reply{}, false
}

// answer ends a command with its reply, in the version that its connection spoke
// when it began.
func (s *command) answer(rep resp.Reply) core.Yield {
	if s.mute {
		rep = resp.Raw(nil)
	}
	rep.Version = s.version
	return s.Return(rep)
}

// fail ends a command that a store didn't answer.
func (s *command) fail(err error) core.Yield { return s.answer(resp.Err(failure(err))) }

// clip shortens what is quoted in an error; there, as in C, a NUL ends it.
func clip(b []byte, most int) []byte {
	b = b[:min(len(b), most)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return b
}

// unknown is Redis' answer to a command that isn't there.
func unknown(cmd *resp.Command) resp.Reply {
	var args strings.Builder
	for i := 1; i < cmd.Len() && args.Len() < 128; i++ {
		fmt.Fprintf(&args, "'%s' ", clip(cmd.Arg(i), 128-args.Len()))
	}
	return resp.Err(fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", clip(cmd.Arg(0), 128), args.String()))
}

func unknownSub(e *entry, name []byte) resp.Reply {
	return resp.Err(fmt.Sprintf("ERR unknown subcommand '%s'. Try %s HELP.", clip(name, 128), strings.ToUpper(e.name)))
}

// arity is Redis' answer to too few or too many arguments.
func arity(e *entry) resp.Reply {
	return resp.Err(fmt.Sprintf("ERR wrong number of arguments for '%s' command", e.name))
}
