package housetest

import (
	"sync"

	"github.com/stackhouse-go/stackhouse/core"
)

// Recorder is an actor that notes what it is told, for a test to look at: in place of one that the
// actor under test tells, or as the subscriber of a topic or of a system's events.
type Recorder[Msg any] struct {
	Port    core.NoticePort[Msg] // tells it
	Address core.Address[core.NoticeFunction[Msg]]
	notes   notes[Msg]
}

// NewRecorder spawns one. Any goroutine may call it and its methods.
func NewRecorder[Msg any](at core.Place) *Recorder[Msg] {
	r := &Recorder[Msg]{}
	r.Address, r.Port = core.SpawnNoticeFunc(at, func(s *core.NoticeStack[Msg]) core.Yield {
		r.notes.add(s.Msg)
		return s.Return()
	})
	return r
}

// Take returns what it was told since the last Take, in order. Bytes in messages that live only as
// long as their stack are dead then.
func (r *Recorder[Msg]) Take() []Msg { return r.notes.take() }

// Double is an actor in place of one that the actor under test asks: it notes what it is asked, and
// answers as the test says.
type Double[Req, Rep any] struct {
	Port    core.Port[Req, Rep] // asks it
	Address core.Address[core.Function[Req, Rep]]
	notes   notes[Req]
}

// NewDouble spawns one that answers by the function, one ask at a time, on its worker: with an
// error, if there is one. Any goroutine may call it and the methods.
func NewDouble[Req, Rep any](at core.Place, answer func(Req) (Rep, error)) *Double[Req, Rep] {
	d := &Double[Req, Rep]{}
	d.Address, d.Port = core.SpawnFunc(at, func(s *core.AskStack[Req, Rep]) core.Yield {
		d.notes.add(s.Req)
		rep, err := answer(s.Req)
		if err != nil {
			return s.Throw(err)
		}
		return s.Return(rep)
	})
	return d
}

// Hold has what it is asked from now on wait until Release, or until who asked gives up.
func (d *Double[Req, Rep]) Hold() { d.Address.Pause() }

// Release ends Hold: what waits is answered.
func (d *Double[Req, Rep]) Release() { d.Address.Continue() }

// Take returns what it answered since the last Take, in order: what it holds isn't there yet.
func (d *Double[Req, Rep]) Take() []Req { return d.notes.take() }

// notes are written by an actor and read by a test.
type notes[M any] struct {
	mu  sync.Mutex
	all []M
}

func (n *notes[M]) add(m M) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, m)
}

func (n *notes[M]) take() (all []M) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, n.all = n.all, nil
	return all
}
