package stack

import (
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/order"
)

// Mailbox orders the calls of a house in another way than that of arrival. Only the house's
// owner calls it. Calls come to it in the order in which they arrived.
//
// Push may call code of users, whose panic is the failure and the end of the call, which then is
// not in the mailbox; so may Pop between Engine.Blame and Engine.Spare.
type Mailbox interface {
	Push(s *Stack)
	Pop() *Stack   // the next; nil: there is none
	Peek() *Stack  // what Pop would return, or nil
	Drain() *Stack // Pop, without code of users, and in any order
	Len() int
}

// NewPriority returns a Mailbox in which calls of a lower class go first; see [order.Priority].
func NewPriority(class func(s *Stack) int) Mailbox { return order.NewPriority(nextOf, class) }

// NewFair returns a Mailbox that takes one call of each sender in turn; see [order.NewFair].
func NewFair() Mailbox { return order.NewFair(nextOf, fromOf) }

func nextOf(s *Stack) **Stack { return &s.next }

// fromOf returns what s says of its sender.
func fromOf(s *Stack) order.From {
	f := order.From{Notice: s.back == nil, Shard: shardOf(s)}
	if h := s.asker(); h != nil {
		f.Asker = h.serial
	} else {
		f.Guests = shardOf(s.origin())
	}
	return f
}

// shardOf returns where s was taken; nil: nowhere, as it is a connection's own.
func shardOf(s *Stack) *pool.Shard {
	if s.by.kind == nil {
		return nil
	}
	return s.Home()
}
