package pace

// Visit returns how many messages a visit of a house handles at most: budget or, if turns have a
// time, ns, as many as there are between two readings of the clock.
func (p *Pace) Visit(budget int, turn int64) int {
	if turn <= 0 || p.Stride() == Max {
		return budget
	}
	return max(1, min(budget, p.Stride()))
}
