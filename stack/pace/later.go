package pace

import "math"

// Later returns the time ns after now or, beyond that, the last time that there is.
func Later(now, ns int64) int64 {
	if ns > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + ns
}
