package pace

// Moment is a time on the system's clock in two bytes, in units of 2^20 ns, about a millisecond,
// from 1; 0 is none. It wraps around after 69 seconds, and then one Moment is 0 too: its users must
// tolerate both errors.
type Moment uint16

// MomentOf returns the Moment of a time, ns.
func MomentOf(ns int64) Moment { return 1 + Moment(ns>>20) }
