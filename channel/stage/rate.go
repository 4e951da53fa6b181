package stage

import (
	"math"
	"time"
)

// rate is the Stage of Rate: a leaky bucket, of which is kept when it will have run empty.
type rate struct {
	perSecond float64
	burst     time.Duration // what runs out while the bucket empties
	empty     int64         // ns
}

// Rate returns a Stage that reads a connection at perSecond bytes a second on average, and burst
// bytes at once before it is slow. Both must be positive. One read, of channel.Config.ReadSize
// bytes at most, may go beyond: what follows waits for longer then.
func Rate(perSecond, burst int) Stage {
	if perSecond <= 0 || burst <= 0 {
		panic("stage: a rate that isn't positive")
	}
	r := &rate{perSecond: float64(perSecond)}
	r.burst = r.time(burst)
	return r
}

// time is how long n bytes take.
func (r *rate) time(n int) time.Duration {
	return time.Duration(min(float64(n)/r.perSecond*float64(time.Second), math.MaxInt64/4))
}

func (r *rate) Moved(f *Flow, received, _ int) {
	if received == 0 {
		return
	}
	r.empty = max(r.empty, f.Now()) + int64(r.time(received))
	r.hold(f)
}

func (r *rate) Tick(f *Flow) error {
	r.hold(f)
	return nil
}

// hold holds reading for as long as the bucket is above its brim.
func (r *rate) hold(f *Flow) {
	above := time.Duration(r.empty-f.Now()) - r.burst
	f.HoldReading(above > 0)
	if above > 0 {
		f.Alarm(above)
	}
}
