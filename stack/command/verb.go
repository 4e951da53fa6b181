package command

// Verb says what a system message is about.
type Verb uint8

const (
	Start    Verb = iota // run the start hook
	Stop                 // stop; answered when the actor has gone
	Failed               // a child has failed, and waits for a decision
	Left                 // a child has gone, or a stack that kept a job has ended
	Restart              // restart because of an error, after a delay
	Resume               // go on, in spite of a failure
	Pause                // hold calls
	Continue             // end Pause
	Watch                // tell a watcher when the actor has gone
	Unwatch              // end Watch
	Gone                 // do nothing; answered when the actor has gone
	GivenUp              // there are calls whose askers gave up
	Drain                // stop behind the calls that wait; among actors of one process a call says it

	verbs = iota
)

var names = [verbs]string{"start", "stop", "failed", "left", "restart", "resume", "pause", "continue", "watch", "unwatch", "gone", "given up", "drain"}

// Passes reports whether the verb is one for the actor, wherever that lives; the others are for the
// house at which they are said.
func (v Verb) Passes() bool {
	switch v {
	case Stop, Restart, Resume, Pause, Continue, Drain:
		return true
	}
	return false
}

// String returns the verb in lower-case words.
func (v Verb) String() string { return names[v] }
