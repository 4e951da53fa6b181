package stack

import (
	"cmp"
	"reflect"

	"github.com/stackhouse-go/stackhouse/stack/away"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// This file is how a house stands in for an actor of another process: addresses, routers, forwards
// and guests find a house as any other. It belongs to one worker for ever, that of its Remote. Its
// calls wait as those of any house. A visit, rather than run steps, hands them to the Remote:
//
//	waits    in a lane, or held. If its asker gives up or its time is over it is dropped there, and
//	         nothing of it leaves the process
//	away     an ask that the Remote has taken. It is suspended until the Remote ends it, by Answer
//	         or FailAsk. If its asker gives up before, it ends, and Forget comes first
//	home     as the answer of any ask
//
// Code that sends doesn't know of this, but for the reason why a message is refused; of visits one
// branch of a sorted one does.
//
// The other side serves: the calls of an actor that is a Server are asks of actors here, whose
// answers come home to its house and, as no promise waits for them there, to Answered.

// Remote is what does the calls of stand-ins; see [away.Remote].
type Remote = away.Remote[House, Stack]

// NewStandIn returns the house of an actor, a *kind, that lives elsewhere, with number serial in
// its system. Its calls are r's, whose worker is w; at most max wait, see MailboxRules. It isn't
// registered. Any goroutine may call it.
func NewStandIn(w *Engine, serial uint64, kind reflect.Type, max int, r Remote) *House {
	h := &House{actor: reflect.Zero(reflect.PointerTo(kind)).Interface()}
	h.flags.Set(flags.Sorted | flags.Stays)
	m := MailboxRules{Max: max}
	h.Mailbox(m)
	h.rooms().rules = &rules{MailboxRules: m, remote: r}
	h.makeLife()
	h.Adopt(w, serial)
	return h
}

// Remote returns the Remote of h; nil: h is no stand-in. Any goroutine may ask.
func (h *House) Remote() Remote {
	if a := h.annex.Load(); a != nil && a.rules != nil {
		return a.rules.remote
	}
	return nil
}

// Loss returns why the actor of h, a stand-in, is out of reach; nil: it isn't, or has stopped, or h
// is no stand-in. Any goroutine may ask, also while others do.
func (h *House) Loss() error {
	if h.Remote() != nil && h.Gone() {
		return h.annex.Load().rules.loss
	}
	return nil
}

// goneBy returns why calls to h, which has stopped, end. Any goroutine may ask.
func (h *House) goneBy() error { return cmp.Or(h.Loss(), fault.ErrStopped) }
