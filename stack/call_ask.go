package stack

import (
	"reflect"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/copied"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/move"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/pace"
	"github.com/stackhouse-go/stackhouse/stack/release"
)

// answer is the part of an ask that a Future reads. It doesn't depend on the request's type.
// Invariant: core.AskStack is laid out as asked is.
type answer[Rep any] struct {
	Head
	lent pool.Carrier // the asker's owner's, see Stack.lent
	rep  Rep
}

type asked[Req, Rep any] struct {
	answer[Rep]
	Req Req
}

// NewAsk makes the handler of asks whose first step is first, of a core.AskStack[Req, Rep].
func NewAsk[Req, Rep any](first Entry, around ...Middleware) *Handler {
	return first.ask(around, valuesOf[Req, Rep]())
}

func (e Entry) ask(around []Middleware, v values) *Handler {
	h := e.handler(classAsk, around, v.releases())
	h.ask = v.ask()
	return h
}

// values is what a handler knows of its requests and replies: nil pointers to their types, and to
// the type of asked that holds them.
type values struct{ req, rep, asked any }

func valuesOf[Req, Rep any]() values {
	return values{(*Req)(nil), (*Rep)(nil), (*asked[Req, Rep])(nil)}
}

// at returns the offsets of request and reply from the Stack, in bytes.
func (v values) at() (req, rep uintptr) {
	asked := reflect.TypeOf(v.asked).Elem()
	return asked.Field(1).Offset, asked.Field(0).Type.Field(2).Offset
}

func (v values) releases() release.Values {
	req, rep := v.at()
	return release.Values{release.At(req, v.req), release.At(rep, v.rep)}
}

func (v values) ask() askPart {
	rep := move.Of(reflect.TypeOf(v.rep).Elem())
	_, at := v.at()
	return askPart{refers: move.HasBytes(reflect.TypeOf(v.req).Elem()), hand: func(from, to *Stack) {
		rep(unsafe.Add(unsafe.Pointer(to), at), unsafe.Add(unsafe.Pointer(from), at))
	}}
}

// Future is the slot for one reply: a field of the stack that asks. It must not
// be copied or assigned to: the runtime holds pointers to it from the ask to the
// end of the stack. Ask it again instead.
type Future[Rep any] struct {
	promise future.Promise
	_       copied.Never
}

// Promise returns the future as the runtime sees it.
func (f *Future[Rep]) Promise() *future.Promise { return &f.promise }

// Ready reports whether the answer is there, so that Get may be called.
func (f *Future[Rep]) Ready() bool { return f.promise.State == future.Done }

// Waiting reports whether the future was asked and isn't answered yet.
func (f *Future[Rep]) Waiting() bool { return f.promise.State == future.Waiting }

// Get returns the reply, or the error in its place. Steps may call it once the answer
// is there, until the future is asked again or its stack ends. Before the answer it
// panics. Bytes in the reply are valid for the same time.
func (f *Future[Rep]) Get() (rep Rep, err error) {
	p := &f.promise
	if p.State != future.Done {
		p.Unready()
	}
	if p.Err != nil || p.Call == nil {
		return rep, p.Err
	}
	return (*answer[Rep])(unsafe.Pointer(p.Call)).rep, nil
}

// Request returns the request in c, whose handler NewAsk[Req, Rep] made.
func Request[Req, Rep any](c *Stack) *Req { return &(*asked[Req, Rep])(unsafe.Pointer(c)).Req }

// Reply returns the reply in c, whose handler NewAsk[Req, Rep] made.
func Reply[Rep any](c *Stack) *Rep { return &(*answer[Rep])(unsafe.Pointer(c)).rep }

// lent returns what is lent to s, an ask, see send_lend.go. It isn't in Stack, as notices have
// none.
func (s *Stack) lent() *pool.Carrier {
	return &(*answer[struct{}])(unsafe.Pointer(s)).lent
}

// Bind begins an ask by s: it takes a stack of h from the worker's shard, writes the way
// back, and binds the promise p under a fresh id. The ask expires in limit ns, at the
// latest when s does; a limit of 0 is the deadline of s or, without one, AskTimeout. The
// caller writes the request and calls Engine.Push. Only a step of s may call it.
//
//alloc:none
func (s *Stack) Bind(p *future.Promise, h *Handler, limit int64) *Stack {
	w := s.Engine()
	deadline := s.deadline
	if limit > 0 {
		deadline = w.within(s, limit)
	} else if deadline == 0 {
		deadline = pace.Later(w.Now, w.AskTimeout)
	}
	id := s.Promise(p, deadline) // before the stack is taken, as it may panic
	o := w.Shard.TakeFree(h.kind)
	if o == nil {
		o = w.Shard.Miss(h.kind)
	}
	c := stackOf(o)
	c.back = s.to
	c.deadline = deadline
	c.id = id
	c.context = s.context.Share()
	p.SetCall(&c.Object)
	return c
}

// Promise binds p under a fresh id. It expires at the time expires, on the system's
// clock, ns. It is the half of Bind for asks of others than actors, such as timers.
//
//alloc:none
func (s *Stack) Promise(p *future.Promise, expires int64) (id uint64) {
	if s.state != running || p.State == future.Waiting {
		s.misusePromise()
	}
	at, w := s.to.rooms(), s.Engine()
	if p.Bound {
		if p.Owner != &s.Object {
			panic("stack: a future of another stack is asked in " + s.by.Name())
		}
		if c := p.TakeCall(); c != nil { // the previous answer is valid until here
			if s.lends {
				s.lendBefore(stackOf(c), p.ID)
			}
			w.Shard.Put(c)
		}
	} else {
		if invariant.Enabled {
			s.checkUnbound(p)
		}
		p.Bind(&s.Object, s.bound)
		s.bound, s.used = p, true
	}
	at.lastID++
	p.Ask(at.lastID, expires)
	at.table.Insert(p, &w.Shard)
	s.pending++
	return p.ID
}

// checkUnbound panics if p stands on the chain of s: it was overwritten by
// assignment while it was bound.
func (s *Stack) checkUnbound(p *future.Promise) {
	for q := s.bound; q != nil; q = q.Next {
		if q == p {
			panic("stack: a future was assigned to in " + s.by.Name())
		}
	}
}

//go:noinline
func (s *Stack) misusePromise() {
	if s.state != running {
		s.misuse()
	}
	panic("stack: a future is asked again before it is answered in " + s.by.Name())
}
