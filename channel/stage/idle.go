package stage

import "time"

// idle is the Stage of Idle.
type idle struct {
	after time.Duration
	moved int64 // when a byte last came or went, ns
}

// Idle returns a Stage that closes a connection whose socket has taken and given no byte for so
// long. Other than channel.Config.IdleTimeout it closes those too that wait for a result.
func Idle(after time.Duration) Stage { return &idle{after: after} }

func (i *idle) Open(f *Flow) error {
	i.moved = f.Now()
	f.Alarm(i.after)
	return nil
}

func (i *idle) Moved(f *Flow, _, _ int) { i.moved = f.Now() }

func (i *idle) Tick(f *Flow) error {
	if left := i.after - time.Duration(f.Now()-i.moved); left > 0 {
		f.Alarm(left)
	} else {
		f.Close()
	}
	return nil
}
