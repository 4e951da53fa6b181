package stack

// Yield is what a step returns: proof that it said how it ended. Only Return,
// Throw, Suspend and their kin make one; the zero Yield panics.
type Yield struct{ how uint8 }

const (
	yieldNone    uint8 = iota
	yieldEnd           // the stack returned or threw
	yieldWait          // the stack is suspended
	yieldAgain         // the stack stays with its maker, who will push it again (channels)
	yieldStash         // the call goes to the stash
	yieldForward       // the stack ended, and Engine.onward answers in its place
	yieldOver          // the stack ended before, and what it kept is home
)
