package cluster

import (
	"errors"
	"reflect"
	"sync"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/stack"
)

// This file is how addresses and ports cross in messages. A zero one has no bytes. All others say
// whose the actor is, as the writer sees it, a port then the number of its method, and
//
//	ours    the actor's serial, and the name of its type
//	theirs  the actor's serial: it goes home
//	gone    the name of its type: it is out of reach for the writer
//
// Serials are those of one life of a system, and a session is between two lives: so these two are
// all that a serial may be of. An actor of a third node would need a life of its own in each name,
// and a word of that node for it: it is refused.
const (
	ours   = 1
	theirs = 2
	gone   = 3
)

// What peers know addresses and ports by.
const (
	addressName = "core:address"
	portName    = "core:port"
)

// Errors of messages that have addresses or ports.
var (
	// ErrThirdNode: the address is of an actor of neither this node nor the one that the message is
	// for. Send the name of its node and its path: see Where.
	ErrThirdNode = RegisterError("stackhouse.cluster.third-node", errors.New("cluster: an address of a third node can't be sent"))
	// ErrNoMethod: the port isn't that of one actor and a method.
	ErrNoMethod = RegisterError("stackhouse.cluster.no-method", errors.New("cluster: the port isn't that of one actor by a method, and can't be sent"))
)

var (
	errName     = errors.New("an address that can't be")
	errNameType = errors.New("an actor, or a method, of another type")
)

// addressed are the types that addresses in messages are of, by name.
var addressed sync.Map

func init() {
	wire.RegisterReferences(func(t reflect.Type) (string, any) {
		r := core.ReferenceTo(t)
		switch {
		case r == nil:
			return "", nil
		case r.Port():
			return portName, r
		case r.Kind() != nil:
			addressed.Store(kindName(r.Kind()), r.Kind())
		}
		return addressName, r
	})
}

// names is the wire.Names of the message that is being written or read.
type names struct {
	track *track
	mine  bool  // what is read was written here
	err   error // why what is written can't cross
	made  int   // stand-ins, as one message was read
}

// AppendName implements wire.Names.
func (n *names) AppendName(dst []byte, ref any) []byte {
	r, t := ref.(core.Reference), n.track
	to, method, ok := r.Referent()
	switch {
	case !ok:
		n.err = ErrNoMethod
		return dst
	case to == nil:
		return dst
	case to.Owner().Guests != t.w.Guests:
		n.err = core.ErrOtherSystem
		return dst
	}
	whose, err := t.whose(to)
	if err != nil {
		n.err = err
		return dst
	}
	dst = wire.AppendUint8(dst, whose)
	if r.Port() {
		m := t.methods.byName[method]
		if m == nil { // it was made when the node had begun
			n.err = ErrNoMethod
			return dst
		}
		dst = wire.AppendUvarint(dst, m.number)
	}
	switch whose {
	case ours:
		dst = wire.AppendUvarint(dst, t.link.hub.export(to))
	case theirs:
		return wire.AppendUvarint(dst, to.Serial())
	}
	return appendKind(dst, to.Kind())
}

// whose returns whose the actor is, as the other end is told.
func (t *track) whose(to *stack.House) (byte, error) {
	r := to.Remote()
	if r == nil {
		return ours, nil
	}
	switch s, ok := r.(*standIn); {
	case !ok: // of AtLeastOnce
		return 0, ErrNoMethod
	case s.track != nil && s.track.link == t.link && s.track.over == nil:
		return theirs, nil
	case to.Gone():
		return gone, nil
	}
	return 0, ErrThirdNode
}

// ReadName implements wire.Names.
func (n *names) ReadName(r *wire.Reader, ref any) error {
	if r.Len() == 0 {
		return nil
	}
	of := ref.(core.Reference)
	whose := r.Uint8()
	var by *core.Contract
	if of.Port() {
		m := n.method(r.Uvarint())
		if m == nil {
			return core.ErrNoHandler
		}
		by = m.Contract
	}
	to, err := n.actor(r, whose, of.Kind())
	if err == nil && !of.Refer(to, by) {
		err = errNameType
	}
	return err
}

// method returns the method of a number; nil: there is none here.
func (n *names) method(number uint64) *method {
	switch t := n.track; {
	case n.mine && number-1 < uint64(len(t.methods.all)):
		return t.methods.all[number-1]
	case !n.mine && number-1 < uint64(len(t.theirs)):
		return t.theirs[number-1].method
	}
	return nil
}

// actor reads which actor it is. kind is the type that it must be of; nil: any.
func (n *names) actor(r *wire.Reader, whose byte, kind reflect.Type) (core.AnyAddress, error) {
	h := n.track.link.hub
	serial := uint64(0)
	if whose == ours || whose == theirs {
		serial = r.Uvarint()
	}
	var name []byte
	if whose == ours || whose == gone {
		name = r.Rest()
	}
	switch {
	case r.End() != nil:
		return core.AnyAddress{}, r.Err()
	case whose == gone:
		return h.nobody(h.methods.kindOf(string(name))), nil
	case whose != ours && whose != theirs || serial == 0:
		return core.AnyAddress{}, errName
	case (whose == theirs) != n.mine:
		if at := h.served.actors[serial]; at != nil {
			return at.Any(at.Kind()), nil
		}
	case whose == ours:
		return n.track.link.know(n, serial, name)
	case n.track.link.bySerial[serial] != nil:
		return n.track.link.bySerial[serial].any(), nil
	}
	if kind == nil {
		kind = reflect.TypeFor[Actor]()
	}
	return h.nobody(kind), nil // it has stopped, and so is forgotten
}

// know returns the address of an actor of the other node that a message has told of.
func (l *link) know(n *names, serial uint64, kind []byte) (core.AnyAddress, error) {
	s := l.bySerial[serial]
	if s == nil {
		if l.known() >= standInsMax {
			return core.AnyAddress{}, core.ErrOverloaded
		}
		n.made++
		s = l.standInFor(serial, l.hub.methods.kindOf(string(kind)))
		// The other end hears that it is known here, and so says when it has stopped. The frame is
		// written behind what is being read.
		s.track.debts.push(s)
		s.track.freed = true
	}
	return s.any(), nil
}

// known returns how many actors of the other node are known that may live.
func (l *link) known() (n int) {
	for _, t := range l.tracks {
		n += len(t.standIns) - len(t.unused)
	}
	return n
}

const (
	// standInsMax is how many actors of another node a session knows at most: a hundred megabytes.
	standInsMax = 1 << 17
	// standInSize is what one takes, about, bytes.
	standInSize = 1 << 10
)

// nobody returns the address of an actor of a type that has stopped: one for all of them.
func (h *hub) nobody(kind reflect.Type) core.AnyAddress {
	at := h.nobodies[kind]
	if at == nil {
		at = stack.NewStandIn(h.w, 0, kind, 1, &standIn{kind: kind})
		h.w.Vanish(at, nil)
		h.nobodies[kind] = at
	}
	return at.Any(kind)
}
