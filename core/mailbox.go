package core

import (
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/order"
)

// Mailbox says how the asks and notices wait that an actor hasn't taken yet: how many there may be,
// what becomes of one more, and in which order they are taken. It is a value for Props.Mailbox;
// each actor gets a mailbox of its own. The zero Mailbox takes house.Config.MailboxMax messages
// (1,024 by default) and rejects more. It is first come, first served, as are Bounded and
// Unbounded.
//
// There is always room for answers, for what stops an actor, for requests of the actor's
// connections, whose inflight is bounded, and for Terminated, one for each actor that is watched.
//
// For senders on the actor's worker the bound is exact. Other senders go by the number of messages
// that waited at the end of the actor's last visit, plus those sent from elsewhere since. So they
// may be refused until the end of a visit that takes messages; and they may exceed the bound by
// what the actor's own worker has sent since that visit, at most by the bound again. Workers that
// send at the same time may exceed it too, each by what was free when it sent; goroutines don't.
type Mailbox struct{ mail stack.MailboxRules }

// WhenFull is what becomes of a message for which a mailbox has no room. The sender is never
// blocked. An ask that isn't accepted is answered with ErrMailboxFull. house.Stats.Full counts all
// of them.
type WhenFull = order.WhenFull

const (
	// Reject refuses the message: a notice returns ErrMailboxFull, and is a dead letter too.
	Reject = order.Reject
	// DropNewest drops the message: a notice returns no error, and becomes a dead letter.
	DropNewest = order.DropNewest
	// DropOldest accepts the message and drops the one that has waited longest: an ask is answered
	// with ErrMailboxFull, a notice becomes a dead letter. If goroutines and other workers send,
	// that happens when the actor's worker takes what they sent: until then twice the bound may
	// wait, and one more is refused as by Reject.
	DropOldest = order.DropOldest
)

// Bounded is a mailbox for n messages, 1 to 524,288 (stack.MailboxTop).
func Bounded(n int, full WhenFull) Mailbox {
	return Mailbox{stack.MailboxRules{Max: bound(n), Full: full}}
}

// Unbounded is a mailbox for any number of messages, for actors whose senders are bounded. Senders
// that aren't may use up all memory, and all time of the actor's worker, which takes everything
// that has come at once.
func Unbounded() Mailbox { return Mailbox{stack.MailboxRules{Max: -1}} }

// ByPriority is a mailbox for n messages, and more are rejected, in which messages of a lower class
// go first; within a class in order of arrival. Messages for which there is no rule have the last
// class. As long as messages of lower classes come, the others wait.
func ByPriority(n int, rules ...Class) Mailbox {
	class := func(s *stack.Stack) int {
		for i := range rules {
			if s.Handler() == rules[i].by {
				return rules[i].of(s)
			}
		}
		return Classes - 1
	}
	return Mailbox{stack.MailboxRules{Max: bound(n), Sort: func() stack.Mailbox { return stack.NewPriority(class) }}}
}

// Classes is the number of classes: 0, which goes first, to Classes-1.
const Classes = order.Classes

// Class is a rule of ByPriority, for the messages of one handler.
type Class struct {
	by *stack.Handler
	of func(s *stack.Stack) int
}

// Class returns the rule for requests of h: the function says which class each has, see Classes. It
// is called once for each request, in a turn of the actor's worker; if it panics, the ask fails.
func (h Handler[A, Req, Rep]) Class(of func(*Req) int) Class {
	return Class{h.route.by, func(s *stack.Stack) int { return of(stack.Request[Req, Rep](s)) }}
}

// Class returns the rule for messages of h; see Handler.Class.
func (h NoticeHandler[A, Msg]) Class(of func(*Msg) int) Class {
	return Class{h.by, func(s *stack.Stack) int { return of(stack.Message[Msg](s)) }}
}

// FairBySender is a mailbox for n messages, and more are rejected, that takes one message of each
// sender in turn, and those of one sender in their order. A sender is an actor that asks. Notices
// don't carry their sender: all from one worker have one sender. Goroutines are divided into 16
// senders.
//
// To keep the order of each actor's messages, an ask joins the notices of its asker's worker while
// any of them wait, and a notice waits until the earlier asks from its worker have begun. What an
// actor sends after it has moved to another worker may overtake what it sent before; actors spawned
// on a worker don't move.
func FairBySender(n int) Mailbox {
	return Mailbox{stack.MailboxRules{Max: bound(n), Sort: stack.NewFair}}
}

func bound(n int) int {
	if n < 1 || n > stack.MailboxTop {
		panic("core: a mailbox for a number of messages that isn't 1 to 524,288")
	}
	return n
}
