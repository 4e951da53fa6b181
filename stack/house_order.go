package stack

import (
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/order"
)

// Mailbox is the order of the calls of a house; see [order.Mailbox]. Pop calls code of users
// between Engine.Blame and Engine.Spare.
type Mailbox = order.Mailbox[Stack]

// NewPriority returns a Mailbox in which calls of a lower class go first; see [order.Priority].
func NewPriority(class func(s *Stack) int) Mailbox { return order.NewPriority(nextOf, class) }

// NewFair returns a Mailbox that takes one call of each sender in turn; see [order.NewFair].
func NewFair() Mailbox { return order.NewFair(nextOf, fromOf) }

func nextOf(s *Stack) **Stack { return &s.next }

// fromOf returns what is known of the sender of s.
func fromOf(s *Stack) order.From {
	f := order.From{Notice: s.back == nil, Shard: shardOf(s)}
	if h := s.asker(); h != nil {
		f.Asker = h.serial
	} else {
		f.Guests = shardOf(s.origin())
	}
	return f
}

// shardOf returns the shard from which s was taken; nil: from none, s is a connection's own stack.
func shardOf(s *Stack) *pool.Shard {
	if s.by.kind == nil {
		return nil
	}
	return s.Home()
}
