package core

import (
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/order"
)

// Mailbox is where the asks and notices wait that an actor hasn't taken yet: how many there may
// be, what becomes of one more, and in which order they are taken. It is a value, for Props; each
// actor gets a mailbox of its own. The zero Mailbox takes house.Config.MailboxMax messages, 1,024
// unless that says otherwise, rejects more, and is first come, first served, as are Bounded and
// Unbounded.
//
// Answers, and what stops an actor, always fit. So does what comes from the actor's connections,
// whose inflight is bounded, and Terminated, of which there are as many as the actor watches
// others.
//
// For senders on the actor's worker the bound is exact. Others know how many messages waited at
// the end of the actor's last visit, and what others than its worker sent since. So they may be
// refused for as long as a visit lasts that takes messages, and they may exceed the bound by what
// its own worker has sent meanwhile, at most as many again. Goroutines don't exceed it otherwise;
// workers may that send at the same time, each by what was free when it sent.
type Mailbox struct{ mail stack.MailboxRules }

// WhenFull is what becomes of a message for which a mailbox has no room. None of them ever blocks
// the sender. An ask that doesn't go through is answered with ErrMailboxFull; Stats.Full counts
// all.
type WhenFull = stack.WhenFull

const (
	// Reject refuses it: a notice returns ErrMailboxFull, and is a dead letter too.
	Reject = stack.Reject
	// DropNewest accepts a notice, which becomes a dead letter.
	DropNewest = stack.DropNewest
	// DropOldest accepts it in place of the message that has waited longest, of which the ask is
	// answered with ErrMailboxFull, and the notice becomes a dead letter. What goroutines and
	// other workers send is dropped when the actor's worker takes it: until then twice as many
	// may wait, and one more is refused as by Reject.
	DropOldest = stack.DropOldest
)

// Bounded is a mailbox for n messages, 1 to 524,288 (stack.MailboxTop).
func Bounded(n int, full WhenFull) Mailbox {
	return Mailbox{stack.MailboxRules{Max: bound(n), Full: full}}
}

// Unbounded is a mailbox for any number of messages: for actors whose senders are bounded. Others
// may use up all memory, and the actor's worker all its time: it takes at once what has come,
// however much that is.
func Unbounded() Mailbox { return Mailbox{stack.MailboxRules{Max: -1}} }

// ByPriority is a mailbox for n messages, and more are rejected, in which messages of a lower
// class go first, those of one class in order of arrival. What no rule names has the last class.
// As long as messages of lower classes come, others wait.
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

// Classes is how many classes there are: 0, which goes first, to Classes-1.
const Classes = order.Classes

// Class is a rule of ByPriority, for the messages of one handler.
type Class struct {
	by *stack.Handler
	of func(s *stack.Stack) int
}

// Class returns the rule that gives a request the class that of returns. It is called once for
// each request, in a turn of the actor's worker; if it panics, the ask has failed.
func (h Handler[A, Req, Rep]) Class(of func(*Req) int) Class {
	return Class{h.route.by, func(s *stack.Stack) int { return of(stack.Request[Req, Rep](s)) }}
}

// Class returns the rule that gives a message the class that of returns; see Handler.Class.
func (h NoticeHandler[A, Msg]) Class(of func(*Msg) int) Class {
	return Class{h.by, func(s *stack.Stack) int { return of(stack.Message[Msg](s)) }}
}

// FairBySender is a mailbox for n messages, and more are rejected, that takes one message of each
// sender in turn, and those of one sender in their order. A sender is an actor that asks. Notices
// don't say which actor sent them: all from one worker are of one sender. So that the order of
// each actor holds, an ask stands in their queue while notices from its asker's worker wait, and
// a notice has its turn when the asks have begun that came from its worker before. What an actor
// sends when it has moved to another worker may overtake what it sent before; those spawned on a
// worker don't move. What goroutines send is of one of 16, by goroutine.
func FairBySender(n int) Mailbox {
	return Mailbox{stack.MailboxRules{Max: bound(n), Sort: stack.NewFair}}
}

func bound(n int) int {
	if n < 1 || n > stack.MailboxTop {
		panic("core: a mailbox for a number of messages that isn't 1 to 524,288")
	}
	return n
}
