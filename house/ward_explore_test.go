//go:build explore && !portable

package house

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

func init() {
	protocols = append(protocols,
		protocol{"ward", exploreWard, 0},                    // ward.go, watcher.go
		protocol{"ward against guest", exploreWardRival, 1}) // watcher.go
}

// parkWithNetwork is Worker.park, with a poller.
func (s *stage) parkWithNetwork(w *Worker, b *bell, over func() bool) {
	entrusted := w.ward.state == entrusted
	if w.hot.Park() {
		s.Point("network.ready")
		if !entrusted {
			s.Await("network.wait", func() bool { return b.rung || w.poller.Ready() || over() })
			if err := w.poller.Wait(0); err != nil {
				s.Fail("%v", err)
			}
		} else if !w.poller.Ready() {
			s.Await("bell.wait", func() bool { return b.rung || over() })
		}
		b.rung = false
	}
	for !w.hot.Unpark() {
		s.Await("bell.wanted", func() bool { return b.rung })
		b.rung = false
	}
	w.heedLook()
	w.poller.Deliver()
}

// line is a descriptor of a worker, which counts what others write.
type line struct {
	s     *stage
	fd    int
	heard int
}

func (l *line) Ready(netio.Ready) {
	var n [8]byte
	if _, err := unix.Read(l.fd, n[:]); err == nil {
		l.heard += int(n[0])
	}
}

func (l *line) write() {
	l.s.Point("network.write")
	unix.Write(l.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

// A ward's network has something twice. It is a ward for as long as it sleeps, or takes its network back when it
// is awake.
func exploreWard(s *stage) {
	l := s.ward()
	writing := true
	s.Go("client", func() {
		l.write()
		l.write()
		writing = false
	})
	s.start(func() bool { return !writing && l.heard == 2 })
}

// A guest asks an actor of a ward, and perhaps borrows its turn, while its network has something.
func exploreWardRival(s *stage) {
	l := s.ward()
	h, _ := stack.NewHouse(func() *answering { return &answering{} })
	s.System.workers[1].Settle(h, nil)
	asking := true
	s.Go("guest", func() {
		c := s.guests.Call(h, answeringAsk)
		if err := s.guests.Wait(context.Background(), c); err != nil {
			s.Fail("the ask failed: %v", err)
		}
		s.guests.Done(c)
		asking = false
	})
	s.Go("client", l.write)
	s.start(func() bool { return !asking && l.heard == 1 })
}

// ward makes two workers, of which one watches the other, and returns a line of that.
func (s *stage) ward() *line {
	s.workers(2)
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err := errors.Join(err, s.openPollers()); err != nil {
		s.Fail("%v", err)
	}
	s.After(func() {
		s.closePollers()
		unix.Close(fd)
	})
	s.appointWatcher()
	w := s.System.workers[1]
	l := &line{s: s, fd: fd}
	if _, err := w.poller.Add(fd, l); err != nil {
		s.Fail("%v", err)
	}
	w.poller.Poll()
	s.pulse.looking.Add(1)
	w.entrust()
	w.ward.ends = s.Choose(2) == 1
	return l
}

// answering answers what it is asked.
type answering struct{}

type answeringStack struct{ stack.AskStack[int, int] }

func (*answering) asked(s *answeringStack) stack.Yield { return s.Return(s.Req) }

var answeringAsk = stack.NewAsk((*answering).asked)
