package ledger

import "slices"

// Merge makes a change in a snapshot, as stores do.
func (s *Snapshot) Merge(c *Change) {
	s.Seq = c.Seq
	s.Items = slices.DeleteFunc(s.Items, func(have Item) bool {
		return slices.ContainsFunc(c.Items, func(i Item) bool { return i.SKU == have.SKU })
	})
	s.Items = append(s.Items, c.Items...)
	s.Reservations = slices.DeleteFunc(s.Reservations, func(have Reservation) bool {
		return slices.Contains(c.Forget, have.Number) ||
			slices.ContainsFunc(c.Reservations, func(r Reservation) bool { return r.Number == have.Number })
	})
	s.Reservations = append(s.Reservations, c.Reservations...)
	s.Outcomes = append(s.Outcomes, c.Outcomes...)
	s.Outcomes = slices.DeleteFunc(s.Outcomes, func(o Outcome) bool { return o.Seq <= c.ForgetUpTo })
}

// Clone returns a snapshot that shares nothing.
func (s *Snapshot) Clone() Snapshot {
	return Snapshot{s.Seq, slices.Clone(s.Items), slices.Clone(s.Reservations), slices.Clone(s.Outcomes)}
}
