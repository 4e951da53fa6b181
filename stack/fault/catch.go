package fault

import "runtime/debug"

// Catch stores the error of f in err: also behind a panic, as a *PanicError of the actor in the
// step, and behind runtime.Goexit, which ends the goroutine all the same.
func Catch(actor, step string, err *error, f func() error) {
	done := false
	defer func() {
		if done {
			return
		}
		value := recover()
		if value == nil {
			value = "runtime.Goexit was called"
		}
		*err = &PanicError{Actor: actor, Step: step, Value: value, Trace: debug.Stack()}
	}()
	*err = f()
	done = true
}
