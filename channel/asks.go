package channel

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// asks is the asks of a Peer at one connection, in order. An ask is
//
//	waiting   for room in the connection
//	behind    encoded into rare.behind: it waits for the end of a result
//	unsent    encoded into conn.out
//	below     if there are stages: they have its bytes, and the socket hasn't taken all that the
//	          stages have made of what there was so far
//	answered  once, by Engine.Answer: when the system has taken its bytes, when they can't leave
//	          any more or, while it waits, when its asker has given up
//
// In between nobody else holds its stack, as with those of a connPool.
type asks struct {
	waiting, behind, unsent, below pending

	taken uint64 // bytes that have left conn.out, from the first ask on
}

// Why an ask of a Peer ends without the system having taken its message.
var (
	errNotSent = fmt.Errorf("%w: %w", core.ErrNotSent, core.ErrStopped)
	errLost    = fmt.Errorf("%w: %w", core.ErrLost, core.ErrStopped)
)

// Asking implements core.Endpoint.
func (c *conn[Req, Rep]) Asking() *stack.Handler { return c.serve.asking }

// Ask implements core.Endpoint. It doesn't answer call, which may be the stack whose step runs.
func (c *conn[Req, Rep]) Ask(call *stack.Stack) error {
	a := c.asks()
	err := c.push(asked[Rep](call))
	switch {
	case err == nil:
		c.encoded(call)
		return nil
	case err == core.ErrStopped:
		err = errNotSent
	case a.waiting.len() < c.serve.config.PendingMax:
		a.waiting.push(call)
		return nil
	}
	c.serve.counts.dropped.Add(1)
	return err
}

// asks returns c.rare.asks, made on first use.
func (c *conn[Req, Rep]) asks() *asks {
	r := c.rarely()
	if r.asks == nil {
		r.asks = &asks{}
	}
	return r.asks
}

// asked returns the message of an ask.
func asked[Rep any](call *stack.Stack) *core.Asked[Rep] {
	return stack.Request[core.Asked[Rep], core.Written](call)
}

// asksWait reports whether asks wait for room.
func (c *conn[Req, Rep]) asksWait() bool {
	return c.rare != nil && c.rare.asks != nil && c.rare.asks.waiting.len() > 0
}

// encodeAsks encodes asks that wait, as many as there is room for. One that was given up meanwhile
// isn't sent.
func (c *conn[Req, Rep]) encodeAsks(w *stack.Engine) {
	for c.asksWait() {
		waiting := &c.rare.asks.waiting
		call := waiting.oldest()
		if err := call.Due(w.Now); err != nil {
			w.Answer(waiting.pop(), pool.Bytes{}, err)
			continue
		}
		if c.crowded() {
			return
		}
		c.putAside(w, asked[Rep](call))
		c.encoded(waiting.pop())
	}
}

// encoded notes that the message of call was encoded last.
func (c *conn[Req, Rep]) encoded(call *stack.Stack) {
	asked[Rep](call).Release()
	if c.amidResult() {
		c.rare.asks.behind.push(call)
	} else {
		c.placeAsk(call, 0)
	}
}

// placeAsk notes that the message of call is in c.out, at bytes further back than it says.
func (c *conn[Req, Rep]) placeAsk(call *stack.Stack, at int) {
	a, m := c.rare.asks, asked[Rep](call)
	m.Begin += a.taken + uint64(at)
	m.End += a.taken + uint64(at)
	a.unsent.push(call)
}

// joinAsks notes that rare.behind is about to join c.out.
func (c *conn[Req, Rep]) joinAsks() {
	for a := c.rare.asks; a != nil && a.behind.len() > 0; {
		c.placeAsk(a.behind.pop(), c.out.unsent)
	}
}

// answerTaken answers the asks whose bytes the system has taken.
func (c *conn[Req, Rep]) answerTaken(w *stack.Engine) {
	a, s := c.rare.asks, c.staged
	for a.unsent.len() > 0 && asked[Rep](a.unsent.oldest()).End <= a.taken {
		call := a.unsent.pop()
		if s == nil {
			w.Answer(call, pool.Bytes{}, nil)
			continue
		}
		asked[Rep](call).End = s.taken + uint64(s.raw.unsent)
		a.below.push(call)
	}
	for a.below.len() > 0 && asked[Rep](a.below.oldest()).End <= s.taken {
		w.Answer(a.below.pop(), pool.Bytes{}, nil)
	}
}

// dropAside drops messages that wait for the end of a result, and answers their asks and those that
// wait for room. With all it answers the others, too: what is in c.out doesn't leave any more.
func (c *conn[Req, Rep]) dropAside(w *stack.Engine, all bool) {
	if c.rare == nil {
		return
	}
	c.rare.behind.drop()
	a := c.rare.asks
	if a == nil {
		return
	}
	if all {
		answerAll(w, &a.below, errLost)
		if a.unsent.len() > 0 && asked[Rep](a.unsent.oldest()).Begin < a.taken {
			w.Answer(a.unsent.pop(), pool.Bytes{}, errLost)
		}
		answerAll(w, &a.unsent, errNotSent)
	}
	answerAll(w, &a.behind, errNotSent)
	answerAll(w, &a.waiting, errNotSent)
}

// answerAll answers all asks of q.
func answerAll(w *stack.Engine, q *pending, err error) {
	for q.len() > 0 {
		w.Answer(q.pop(), pool.Bytes{}, err)
	}
}

// askStack is a message by Peer.Ask from another worker.
type askStack[Rep any] struct {
	core.AskStack[core.Asked[Rep], core.Written]
}

// ask is the only step of what other workers ask of connections of an actor: the connection
// answers.
func ask[A, Rep any](_ *A, s *askStack[Rep]) core.Yield {
	if err := s.Req.Of.Ask(stack.Of(s)); err != nil {
		return s.Throw(err)
	}
	return stack.Again(stack.Of(s))
}
