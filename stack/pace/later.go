package pace

import "math"

// Later returns the time ns behind now, at most the last that there is.
func Later(now, ns int64) int64 {
	if ns > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + ns
}
