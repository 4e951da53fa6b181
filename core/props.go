package core

// Props are settings of a new actor. With the zero Props SpawnWith does what Spawn does.
type Props struct {
	// Name is the last part of the actor's path, as "order.42" in "/user/shop/order.42". It is
	// unique among the children of a parent, and at the top. It consists of letters, digits and any
	// of -_.~@:+, at most 255 bytes. Empty: the actor can't be looked up.
	Name string
	// OnFailure says what becomes of the actor when it fails. nil: what Children of its parent
	// says; at the top, house.Config.Supervise. A panic in a request of a connection is a failure
	// of the actor only if OnFailure isn't nil.
	OnFailure *Strategy
	// Children says what becomes of the actor's children that fail. nil: the zero Strategy.
	Children *Strategy
	// Serial means that no call of the actor begins while one of its stacks is suspended. Answers
	// and timers still arrive.
	Serial bool
	// Mailbox is where the actor's messages wait. Zero: bounded by house.Config.MailboxMax, first
	// come, first served.
	Mailbox Mailbox
	// Passivate says when the actor stops by itself. Zero: never.
	Passivate Passivation
}
