package main

import (
	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// front serves the connections of one worker.
type front struct {
	service *service
	stores  *stores
}

var frontServe = channel.Handle((*front).serve)

// command is one request of a connection.
type command struct {
	core.ChannelStack[resp.Command, resp.Reply]
	reply core.Future[resp.Reply]            // of the one store asked
	parts [storesMax]core.Future[resp.Reply] // of each store, for commands on many keys
	merge func(f *front, s *command) resp.Reply
}

// serve is the first step of every command.
func (f *front) serve(s *command) core.Yield {
	cmd := &s.Req
	e := lookup(cmd.Arg(0))
	if e == nil {
		return s.Return(unknown(s))
	}
	if n := cmd.Len(); n < e.least || n > e.most || (e.pairs && n%2 == 0) {
		return s.Return(arity(e))
	}
	if e.run != nil {
		return e.run(f, s)
	}
	if e.merge == nil || (e.sums && cmd.Len() == 2) {
		f.stores.ports[f.stores.of(cmd.Arg(1))].Ask(s, &s.reply, f.request(s, e))
		return core.Suspend(s, (*front).answered)
	}
	s.merge = e.merge
	for i := range f.stores.ports {
		f.stores.ports[i].Ask(s, &s.parts[i], f.request(s, e))
	}
	return core.Suspend(s, (*front).merged)
}

// request makes the message to a store: the whole command, whose bytes it keeps.
func (f *front) request(s *command, e *entry) request {
	return request{do: e.do, cmd: s.Req, bytes: s.Keep(s.Req.Raw())}
}

// answered passes a store's reply on.
func (f *front) answered(s *command) core.Yield {
	rep, err := s.reply.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(rep)
}

// merged puts the replies of all stores together.
func (f *front) merged(s *command) core.Yield {
	for i := range f.stores.ports {
		rep, err := s.parts[i].Get()
		if err != nil {
			return s.Throw(err)
		}
		if rep.Kind == resp.KindError {
			return s.Return(rep)
		}
	}
	return s.Return(s.merge(f, s))
}
