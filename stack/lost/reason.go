package lost

import "fmt"

// Reason is why nobody handled a notice.
type Reason uint8

const (
	// Stopped: the actor, or its whole system, had stopped.
	Stopped Reason = iota
	// Expired: the notice's deadline had passed before its turn came.
	Expired
	// Cancelled: the sender gave up before the notice's turn came.
	Cancelled
	// NoMember: a router had no actor to choose from.
	NoMember
	// Full: the mailbox was full.
	Full
	// Refused: middleware of the handler refused the notice.
	Refused
	// Foreign: a step sent the notice to an actor of another system than its own.
	Foreign

	reasons = iota
)

var names = [reasons]string{"stopped", "expired", "cancelled", "no member", "mailbox full", "refused", "another system"}

// String returns the reason in lower-case words.
func (r Reason) String() string {
	if int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}
