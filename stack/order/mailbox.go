package order

// WhenFull is what becomes of a message that a mailbox has no room for. An ask that is refused or
// dropped is answered with ErrMailboxFull.
type WhenFull uint8

// The policies.
const (
	Reject     WhenFull = iota // the sender of a notice gets ErrMailboxFull
	DropNewest                 // a notice is accepted, and becomes a dead letter
	// the message that has waited longest is dropped instead; a notice becomes a dead letter
	DropOldest
)

// Mailbox orders the calls of an actor in another way than by arrival. It has one owner, and calls
// are pushed in the order in which they arrived.
//
// Push may call code of users. A panic in it is the failure of the pushed call and ends that call,
// which then is not in the mailbox. Pop may call code of users, too.
type Mailbox[T any] interface {
	Push(t *T)
	Pop() *T   // removes the next call; nil: there is none
	Peek() *T  // the call that Pop would return, or nil
	Drain() *T // Pop in any order, which calls no code of users
	Len() int
}
