//go:build explore

package invariant

// AtPoint is called at every scheduling point, if set. Only an explorer, which
// runs all workers in one goroutine, sets it.
var AtPoint func(where string)

// Point is a scheduling point: another worker may act here.
func Point(where string) {
	if AtPoint != nil {
		AtPoint(where)
	}
}
