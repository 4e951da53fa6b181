package core

// Props are what a new actor is given beside its struct. The zero Props are those of Spawn.
type Props struct {
	// Name is the last part of the actor's path, as "order.42" in "/user/shop/order.42". No
	// other actor with the same parent, or at the top, has it. It consists of letters, digits and
	// any of -_.~@:+ and has at most 255 bytes. Empty: the actor can't be looked up.
	Name string
	// OnFailure says what becomes of the actor when it fails. nil: what its parent's Children
	// says; at the top house.Config.Supervise. A panic in the request of a connection is a
	// failure of the actor only if this isn't nil.
	OnFailure *Strategy
	// Children says what becomes of the actor's children that fail. nil: the zero Strategy.
	Children *Strategy
	// Serial has no call of the actor begin while a stack of it is suspended. Answers and
	// timers go on.
	Serial bool
	// Mailbox is where the actor's messages wait. The zero Mailbox: what its system says.
	Mailbox Mailbox
	// Passivate says when the actor stops by itself. The zero Passivation: never.
	Passivate Passivation
}
