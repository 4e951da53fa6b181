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
	bytes        []byte // all commands of the pipeline
	index        int    // its number in session.owed
}

// command is one request in progress.
type command struct {
	core.ChannelStack[inbound, resp.Reply]
	reply   core.Future[resp.Reply]            // of the one store asked
	parts   [storesMax]core.Future[resp.Reply] // of each store, for commands on many keys
	room    core.Future[core.Room]             // for more of the reply
	entry   *entry                             // the command; nil: it has a run, or is a pipeline
	at      int                                // the store that KEYS walks through
	epoch   uint32                             // the order's, when the stores were asked last
	version resp.Version
	mute    bool     // CLIENT REPLY: the reply isn't sent
	asked   storeSet // the stores that were asked last

	// Of a pipeline.

	next    int              // the first command whose reply isn't sent
	left    [storesMax]share // the commands that each store hasn't done
	taken   [storesMax]uint8 // how many replies of each store's last answer are sent
	muted   share            // their replies aren't sent
	refused share            // their reply is refusal: no store does them
	refusal string
}

// storeSet is a set of stores.
type storeSet uint8

func (s storeSet) has(store int) bool { return s>>store&1 != 0 }

// all is the set of n stores.
func all(n int) storeSet { return 1<<n - 1 }

// serve is the first step of every command.
func (f *front) serve(s *command) core.Yield {
	if !s.Req.session.mayBegin(s) {
		return f.wait(s)
	}
	return f.begin(s)
}

// begin does a command, or a pipeline, when its turn has come.
func (f *front) begin(s *command) core.Yield {
	if s.Req.pipeline.n > 0 {
		return f.beginAll(s)
	}
	c, cmd := s.Req.session, &s.Req.Command
	e := lookup(cmd.Arg(0))
	if e != nil && e.takes(cmd.Len()) && (e.traits&alone != 0 || c.isLong(e, cmd)) {
		if !s.isFirst() {
			return f.wait(s)
		}
		s.goAlone()
	}
	s.version, s.mute = c.version, c.mute || c.skip
	c.skip = false
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
	s.entry, s.asked = e, all(f.stores.len())
	return f.ask(s)
}

// ask asks the store of the key; for a command of all stores, those of them that haven't done their
// part.
func (f *front) ask(s *command) core.Yield {
	if s.Req.session.isLong(s.entry, &s.Req.Command) { // also when it is asked again
		return f.walk(s)
	}
	if e := s.entry; !e.ofAll(&s.Req.Command) {
		return f.askOne(s, f.stores.of(s.Req.Arg(max(e.key, 1))), e.do)
	}
	return f.askAll(s, s.entry.do, (*front).merged)
}

// request makes the message to a store, with the bytes of the whole command. A command that goes
// alone isn't put off, as all before it have been answered.
func (f *front) request(s *command, do func(t *store, s *storeStack) resp.Reply) request {
	c := s.Req.session
	s.epoch = c.order.epoch
	r := request{do: do, bytes: s.Keep(s.Req.Raw()), version: s.version, epoch: s.epoch}
	if s.entry != nil {
		r.cuts = &c.cuts
	}
	return r
}

// askOne asks one store.
func (f *front) askOne(s *command, store int, do func(t *store, s *storeStack) resp.Reply) core.Yield {
	f.stores.ports[store].Ask(s, &s.reply, f.request(s, do))
	return core.Suspend(s, (*front).answered)
}

// askAll asks the stores of s.asked.
func (f *front) askAll(s *command, do func(t *store, s *storeStack) resp.Reply, next func(*front, *command) core.Yield) core.Yield {
	for i := range f.stores.ports {
		if s.asked.has(i) {
			f.stores.ports[i].Ask(s, &s.parts[i], f.request(s, do))
		}
	}
	return core.Suspend(s, next)
}

// answered answers with the reply of the one store asked.
func (f *front) answered(s *command) core.Yield {
	rep, err := s.reply.Get()
	if err != nil {
		return s.fail(err)
	}
	if isNotDone(&rep) {
		return f.again(s, (*front).ask)
	}
	s.adapt(len(rep.Str))
	return s.answer(rep)
}

// merged puts the replies of all stores together, once all have done their part.
func (f *front) merged(s *command) core.Yield {
	s.asked = 0
	for i := range f.stores.ports {
		if rep, err := s.parts[i].Get(); err == nil && isNotDone(&rep) {
			s.asked |= 1 << i
		} else if len(rep.Str) > longReplies {
			s.cut()
		}
	}
	if s.asked != 0 {
		return f.again(s, (*front).ask)
	}
	if rep, failed := f.failed(s); failed {
		return s.answer(rep)
	}
	return s.answer(s.entry.merge(f, s))
}

// failed returns the reply if a store has failed.
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

// answer ends a command with its reply, in the protocol version that its connection had when the
// command began.
func (s *command) answer(rep resp.Reply) core.Yield {
	if s.mute {
		rep = resp.Raw(nil)
	}
	rep.Version = s.version
	return s.Return(rep)
}

// fail ends a command whose store didn't answer.
func (s *command) fail(err error) core.Yield { return s.answer(resp.Err(failure(err))) }

// clip shortens text that an error quotes, to most bytes. As in C the text ends at a NUL.
func clip(b []byte, most int) []byte {
	b = b[:min(len(b), most)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return b
}

// unknown is Redis' reply to an unknown command.
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

// arity is Redis' reply to too few or too many arguments.
func arity(e *entry) resp.Reply {
	return resp.Err(fmt.Sprintf("ERR wrong number of arguments for '%s' command", e.name))
}
