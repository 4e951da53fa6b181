package pace

// Moment is a time on the system's clock in two bytes, in units of 2^20 ns, about a millisecond,
// from 1; 0 is none. After 69 seconds it is again what it was, and once in a while it is 0: whoever
// keeps one can do with being wrong then.
type Moment uint16

// MomentOf returns the Moment of a time, ns.
func MomentOf(ns int64) Moment { return 1 + Moment(ns>>20) }
