package house

// LongSpinners returns how many workers spin beyond 5 µs.
func (s *System) LongSpinners() int { return int(s.longSpinners.Load()) }
