package housetest

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/netio"
)

// Machine is what a system of a simulation runs on. The zero Machine is what New and Beside give.
type Machine struct {
	// Name is what Network.Cut and its kin know it by. Systems that run one after the other, as
	// lives of one program, have the same name.
	Name string
	// Rate is how fast the clock of the system runs beside that of the simulation: 2 is twice as
	// fast, 0 is 1. All that the system is told, and tells, is by its own clock; Sim.Now and
	// Sim.Run are by the simulation's.
	Rate float64
}

// host is a system of a simulation on its machine, and its netio.World: the network as seen from
// there. It is
//
//	awake   its workers take turns. Sim.Pause -> asleep; Sim.Kill -> dead
//	asleep  they take none, time and the network go on. Sim.Resume -> awake; Sim.Kill -> dead
//	dead    for ever. Only the shutdown at the end of the test runs turns of it, and nothing of
//	        these leaves it
type host struct {
	*Network
	name   string
	rate   int64 // of its clock, in millionths
	state  hostState
	system *house.System
}

type hostState uint8

const (
	awake hostState = iota
	asleep
	dead
)

const million = 1_000_000

// rests reports whether the system takes no turns; nil is nobody's.
func (h *host) rests() bool { return h != nil && h.state != awake }

func (m Machine) host(n *Network) *host {
	h := &host{Network: n, name: m.Name, rate: million}
	if m.Rate != 0 {
		h.rate = int64(m.Rate * million)
	}
	if h.rate < 1 || h.rate > 1000*million {
		panic("housetest: a clock that runs backwards, or too fast")
	}
	return h
}

// clock is the system's clock.
func (h *host) clock() int64 {
	now := h.sim.Now
	return now/million*h.rate + now%million*h.rate/million
}

// away returns how long it takes in the simulation until ns have passed on the system's clock.
func (h *host) away(ns int64) int64 {
	return ns/h.rate*million + (ns%h.rate*million+h.rate-1)/h.rate
}

// BesideOn is Beside on a machine.
func (s *Sim) BesideOn(t testing.TB, m Machine, c house.Config) *house.System {
	t.Helper()
	return s.start(t, m, c, true)
}

// Pause has the workers of a system take no more turns until Resume, as by SIGSTOP: its clock goes
// on, and connections and bytes come up to its sockets. Nothing happens to one that is paused or
// killed. sys is one of New or Beside; the goroutine of the test calls it, as Resume and Kill, and
// not from within a turn.
func (s *Sim) Pause(sys *house.System) { s.to(sys, awake, asleep) }

// Resume ends a Pause: what has become due is done late.
func (s *Sim) Resume(sys *house.System) { s.to(sys, asleep, awake) }

// Kill ends a system, as by SIGKILL: it takes no more turns, and its sockets are closed. Who was
// connected reads what was written, then the end; or is reset, if the system had left bytes unread.
// Its addresses are free for the next one. If the machine is to go silent instead, see Network.Cut.
//
// The end of the test cleans up: it shuts the system down, and by that runs hooks of actors such as
// PostStop. Nothing of that is in the hash, or gets into the network.
func (s *Sim) Kill(sys *house.System) {
	h := s.hostOf(sys)
	if h.state == dead {
		return
	}
	h.state = dead
	s.rouse()
	for _, of := range s.Net.sockets {
		switch of := of.(type) {
		case *end:
			if of.host == h {
				of.dies()
			}
		case *share:
			if of.of.host == h {
				s.Net.unlisten(of.of)
			}
		}
	}
	s.Net.forget(h)
}

func (s *Sim) hostOf(sys *house.System) *host {
	for _, h := range s.hosts {
		if h.system == sys {
			return h
		}
	}
	panic("housetest: a system of another simulation")
}

func (s *Sim) to(sys *house.System, from, to hostState) {
	if h := s.hostOf(sys); h.state == from {
		h.state = to
		s.rouse()
	}
}

// rouse gathers the workers that take turns.
func (s *Sim) rouse() {
	s.turns = nil
	for _, h := range s.hosts {
		if h.state == awake {
			s.turns = append(s.turns, h.system.Workers()...)
		}
	}
}

// Listen implements netio.World.
func (h *host) Listen(network, address string, opt netio.ListenOptions) (fd int, bound string, err error) {
	if h.state == dead {
		return -1, "", errDead
	}
	if fd, bound, err = h.Network.Listen(network, address, opt); err == nil {
		h.ports[bound].host, h.homes[bound] = h, h
	}
	return fd, bound, err
}

// Connect implements netio.World.
func (h *host) Connect(_, address string) (fd int, err error) {
	if h.state == dead {
		return -1, errDead
	}
	return h.connectBy(h, address)
}
