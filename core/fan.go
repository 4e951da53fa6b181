package core

import (
	"sync"
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/stack"
)

// FanMax is how many members Broadcast and First ask at most. With more members the answer is
// ErrOverloaded.
const FanMax = 256

// Broadcast returns a port that asks all members. Its reply comes when all have answered, and is
// what they answered, errors included. If the deadline passes before that, the answer is
// ErrTimeout; without members it is ErrNoMember. Each member gets a copy of the request, so
// requests must not have a Release method. What a guest sends to a member after Begin may overtake
// the broadcast.
//
// It is a function, not a method like the makers of other routers: the compiler would compile it
// for each type of ask.
func Broadcast[A, Req, Rep any](h Handler[A, Req, Rep], m Members[A]) Port[Req, Answers[Rep]] {
	return Port[Req, Answers[Rep]]{route: fanOut[Req](h.route, rosterOf(m), fansOf[Req, Rep]().all)}
}

// First returns a port that asks all members. Its reply is the first that comes; the other asks are
// then cancelled. Only if all members fail is the answer an error, that of the last one. Each
// member gets a copy of the request, so requests must not have a Release method.
func First[A, Req, Rep any](h Handler[A, Req, Rep], m Members[A]) Port[Req, Rep] {
	return Port[Req, Rep]{route: fanOut[Req](h.route, rosterOf(m), fansOf[Req, Rep]().first)}
}

// Answers is what the members answered to a Broadcast, in the order in which they joined. It is
// valid as long as the answer in its future; a guest reads it in AskInto or GetInto.
type Answers[Rep any] struct{ all []Future[Rep] }

// Len returns the number of members asked.
func (a Answers[Rep]) Len() int { return len(a.all) }

// Get returns answer i: the reply, or the error. Bytes in the reply live as long as a. Get panics
// if a is no longer valid.
func (a Answers[Rep]) Get(i int) (Rep, error) {
	a.alive(i)
	return a.all[i].Get()
}

// alive panics if the stack that holds the answers has ended.
func (a Answers[Rep]) alive(i int) {
	if !a.all[i].Ready() {
		panic("core: Answers are read after their end; a guest reads them in AskInto or GetInto")
	}
}

// All ranges over the answers.
func (a Answers[Rep]) All() func(yield func(Rep, error) bool) {
	return func(yield func(Rep, error) bool) {
		for i := range a.all {
			if !yield(a.Get(i)) {
				return
			}
		}
	}
}

// Err returns the first error among the answers; nil if all members replied.
func (a Answers[Rep]) Err() error {
	for i := range a.all {
		a.alive(i)
		if err := a.all[i].Promise().Err; err != nil {
			return err
		}
	}
	return nil
}

// A fan-out is a stack of its own, nested in the house of its asker: its first step runs within the
// ask, without a message in between. A guest has no house: an actor of the router's, the host,
// lends it one.

type fanHost struct{}

// fanStack is one fan-out in progress.
type fanStack[Req, Rep any] struct {
	state stack.FanState
	AskStack[Req, Rep]
}

// allStack is one Broadcast in progress.
type allStack[F, Req, Rep any] struct {
	fanStack[Req, Answers[Rep]]
	f F
}

// firstStack is one First in progress.
type firstStack[F, Req, Rep any] struct {
	fanStack[Req, Rep]
	f      F
	failed [FanMax / 64]uint64 // bit i: member i has failed
}

func askAll[F, Req, Rep any](_ *fanHost, s *allStack[F, Req, Rep]) Yield {
	askEach(stack.Of(s), slots[F, Rep](&s.f), &s.state, &s.Req)
	return stack.Of(s).Await()
}

func gathered[F, Req, Rep any](_ *fanHost, s *allStack[F, Req, Rep]) Yield {
	if st := stack.Of(s); st.Deadline() != 0 && st.Engine().Now >= st.Deadline() {
		return s.Throw(ErrTimeout)
	}
	all := slots[F, Rep](&s.f)[:len(s.state.To)]
	stack.Of(s).KeepAnswers()
	return s.Return(Answers[Rep]{all})
}

func askFirst[F, Req, Rep any](_ *fanHost, s *firstStack[F, Req, Rep]) Yield {
	askEach(stack.Of(s), slots[F, Rep](&s.f), &s.state, &s.Req)
	return stack.Of(s).Await()
}

// won reports whether a member has replied, and notes which members have failed.
func won[F, Req, Rep any](_ *fanHost, s *firstStack[F, Req, Rep]) bool {
	f := slots[F, Rep](&s.f)
	for i := range s.state.To {
		if f[i].Ready() {
			if f[i].Promise().Err == nil {
				return true
			}
			s.failed[i/64] |= 1 << (i % 64)
		}
	}
	return false
}

func decided[F, Req, Rep any](_ *fanHost, s *firstStack[F, Req, Rep]) Yield {
	f := slots[F, Rep](&s.f)
	last := 0
	for i := range s.state.To {
		if !f[i].Ready() {
			continue
		}
		if rep, err := f[i].Get(); err == nil {
			stack.Of(s).KeepAnswers()
			return s.Return(rep)
		}
		if s.failed[i/64]>>(i%64)&1 == 0 {
			last = i
		}
	}
	return s.Throw(f[last].Promise().Err)
}

// askEach asks all members.
//
//alloc:none
func askEach[Req, Rep any](s *stack.Stack, f []Future[Rep], to *stack.FanState, req *Req) {
	w := s.Engine()
	for i, h := range to.To {
		c := s.Bind(f[i].Promise(), to.By, 0)
		*stack.Request[Req, Rep](c) = *req
		w.Push(h, c)
	}
}

// slots returns the futures of an array of one of the three sizes.
func slots[F, Rep any](f *F) []Future[Rep] {
	switch f := any(f).(type) {
	case *[8]Future[Rep]:
		return f[:]
	case *[64]Future[Rep]:
		return f[:]
	case *[FanMax]Future[Rep]:
		return f[:]
	}
	panic("core: an array of futures of another size")
}

// handlers are a fan-out's handlers for three sizes: a stack of 256 futures takes 26 KB, which are
// cleared each time.
type handlers [3]*stack.Handler

func (h *handlers) of(members int) *stack.Handler {
	switch {
	case members <= 8:
		return h[0]
	case members <= 64:
		return h[1]
	}
	return h[2]
}

type fans struct{ all, first handlers }

// fanHandlers holds the fans of each pair of types Req and Rep that was fanned out.
var fanHandlers sync.Map

type fanKey[Req, Rep any] struct{}

func fansOf[Req, Rep any]() *fans {
	f, ok := fanHandlers.Load(fanKey[Req, Rep]{})
	if !ok {
		f, _ = fanHandlers.LoadOrStore(fanKey[Req, Rep]{}, &fans{
			all:   handlers{newAll[[8]Future[Rep], Req, Rep](), newAll[[64]Future[Rep], Req, Rep](), newAll[[FanMax]Future[Rep], Req, Rep]()},
			first: handlers{newFirst[[8]Future[Rep], Req, Rep](), newFirst[[64]Future[Rep], Req, Rep](), newFirst[[FanMax]Future[Rep], Req, Rep]()},
		})
	}
	return f.(*fans)
}

func newAll[F, Req, Rep any]() *stack.Handler {
	return stack.NewFan(askAll[F, Req, Rep], gathered[F, Req, Rep], nil)
}

func newFirst[F, Req, Rep any]() *stack.Handler {
	return stack.NewFan(askFirst[F, Req, Rep], decided[F, Req, Rep], won[F, Req, Rep])
}

// fan is the router that asks all members.
type fan struct {
	by     *stack.Handler // of the members
	stacks handlers
	roster *roster
	host   host
}

func fanOut[Req any](by *route, r *roster, h handlers) *route {
	if by == nil {
		panic("core: a router of a zero Handler")
	}
	refuseReleased[Req]()
	return &route{among: &fan{by: by.by, stacks: h, roster: r}}
}

// choose returns the handler of the fan-out's stacks, and the members to ask.
func (f *fan) choose() (*stack.Handler, []*stack.House) {
	all := f.roster.here()
	return f.stacks.of(len(all)), all
}

func (f *fan) guests() *stack.Guests {
	if all := f.roster.here(); len(all) > 0 {
		return all[0].Owner().Guests
	}
	return nil
}

//alloc:none
func (f *fan) aim(w *stack.Engine, c *stack.Stack, all []*stack.House) (*stack.House, error) {
	switch {
	case len(all) == 0:
		return nil, ErrNoMember
	case len(all) > FanMax:
		return nil, ErrOverloaded
	}
	to := stack.FanOf(c)
	to.By, to.To = f.by, all
	if w != nil {
		return nil, nil
	}
	return f.host.at((*neighbour)(all[0])), nil
}

// host is the actor in whose house the nested asks of guests run. The zero host has no actor yet.
type host struct{ now atomic.Pointer[stack.House] }

// at returns the host's house. It spawns the host at place if there is none, or if it has stopped.
func (h *host) at(place Place) *stack.House {
	now := h.now.Load()
	if now != nil && !now.Gone() {
		return now
	}
	return h.replace(now, place)
}

//go:noinline
func (h *host) replace(old *stack.House, place Place) *stack.House {
	next := Spawn(place, func() *fanHost { return &fanHost{} })
	if !h.now.CompareAndSwap(old, next.house) {
		next.Stop()
	}
	return h.now.Load()
}
