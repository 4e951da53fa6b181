package session

// Timing says how long a link waits, in ns. What is 0 has its default.
type Timing struct {
	// Silence is after how long without a byte a PING asks for one. Default 1 s.
	Silence int64
	// Reset is after how long without a byte a connection is closed. It should be twice Silence at
	// least. Default 3 s.
	Reset int64
	// Unused is after how long without frames a connection is closed that isn't wanted; its session
	// stays. Default 5 minutes.
	Unused int64
	// Patience is how long a track may be wanted without a connection before the session is given
	// up. Default 30 s.
	Patience int64
	// BackoffMin and BackoffMax are how long a dial waits after the first failure in a row, and at
	// most: each wait is twice the one before. Defaults 50 ms and 3 s.
	BackoffMin, BackoffMax int64
}

const (
	millisecond = int64(1e6)
	second      = 1000 * millisecond
)

func (t Timing) orDefault() Timing {
	for _, f := range [...]struct {
		field *int64
		value int64
	}{
		{&t.Silence, second}, {&t.Reset, 3 * second}, {&t.Unused, 300 * second}, {&t.Patience, 30 * second},
		{&t.BackoffMin, 50 * millisecond}, {&t.BackoffMax, 3 * second},
	} {
		if *f.field < 0 {
			panic("session: a timing below zero")
		}
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return t
}

// backoff returns the wait after so many failures before this one.
func (t *Timing) backoff(failures int) int64 {
	wait := t.BackoffMin
	for ; failures > 0 && wait < t.BackoffMax; failures-- {
		wait *= 2
	}
	return min(wait, t.BackoffMax)
}
