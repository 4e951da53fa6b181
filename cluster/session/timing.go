package session

import (
	"errors"
	"time"
)

// Timing says how long a link waits. What is 0 has its default.
type Timing struct {
	// Silence is after how long without a byte a PING asks for one. Default 1 s.
	Silence time.Duration
	// Reset is after how long without a byte a connection is closed. It should be twice Silence at
	// least. Default 3 s.
	Reset time.Duration
	// Unused is after how long without frames a link's connections are closed, if none of its tracks
	// is wanted; the session stays. Default 5 minutes.
	Unused time.Duration
	// Patience is how long a track may be wanted without a connection before the session is given
	// up. Default 30 s.
	Patience time.Duration
	// BackoffMin and BackoffMax are how long a dial waits after the first failure in a row, and at
	// most: each wait is twice the one before. Defaults 50 ms and 3 s.
	BackoffMin, BackoffMax time.Duration
}

// Check returns why no link can have t, as in "a time below zero", or nil.
func (t Timing) Check() error {
	if min(t.Silence, t.Reset, t.Unused, t.Patience, t.BackoffMin, t.BackoffMax) < 0 {
		return errors.New("a time below zero")
	}
	if t = t.orDefault(); t.Reset < t.Silence {
		return errors.New("a Reset before the Silence at which it pings")
	}
	return nil
}

func (t Timing) orDefault() Timing {
	for _, f := range [...]struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Silence, time.Second}, {&t.Reset, 3 * time.Second}, {&t.Unused, 5 * time.Minute}, {&t.Patience, 30 * time.Second},
		{&t.BackoffMin, 50 * time.Millisecond}, {&t.BackoffMax, 3 * time.Second},
	} {
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
	return int64(min(wait, t.BackoffMax))
}
