//go:build explore

package invariant

import "sync"

// AtPoint, AtAwait and AtSelf are called by Point, Await and Self, if set. Only an explorer, which
// runs all workers in one goroutine, sets them, or a test that has something happen at a point.
var (
	AtPoint func(where string)
	AtAwait func(where string, ready func() bool)
	AtSelf  func() uintptr
)

// Point is a scheduling point: another worker may act here.
func Point(where string) {
	if AtPoint != nil {
		AtPoint(where)
	}
}

// Await is a scheduling point before something that blocks until ready holds of x.
func Await[X any](where string, x X, ready func(X) bool) {
	if AtAwait != nil {
		AtAwait(where, func() bool { return ready(x) })
	}
}

// Lock is mu.Lock(), for sections that have scheduling points in them.
func Lock(mu *sync.Mutex) {
	Await("lock", mu, unlocked)
	mu.Lock()
}

func unlocked(mu *sync.Mutex) bool {
	free := mu.TryLock()
	if free {
		mu.Unlock()
	}
	return free
}

// Self returns id, the identity of the calling goroutine: an explorer's threads have others, the
// same in each run.
func Self(id uintptr) uintptr {
	if AtSelf != nil {
		return AtSelf()
	}
	return id
}
