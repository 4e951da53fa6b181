package copied

import "slices"

// Set is distinct values, in the order in which they were added, that are read without a lock and
// copied when they change. Any goroutine may read and change it. The zero Set is empty.
type Set[T comparable] struct{ now Value[[]T] } // Invariant: nil, or no empty slice

// Empty reports whether the set is empty. It costs a load.
//
//alloc:none
func (s *Set[T]) Empty() bool { return s.now.Load() == nil }

// All returns the values of this moment. The slice must not be written to.
//
//alloc:none
func (s *Set[T]) All() []T {
	if all := s.now.Load(); all != nil {
		return *all
	}
	return nil
}

// Add adds x, unless it is there or unless(x) is true. unless is called again if another goroutine
// has changed the set meanwhile.
func (s *Set[T]) Add(x T, unless func(T) bool) {
	s.now.Change(func(all *[]T) *[]T {
		switch {
		case unless(x):
			return all
		case all == nil:
			return &[]T{x}
		case slices.Contains(*all, x):
			return all
		}
		more := append(slices.Clip(*all), x)
		return &more
	})
}

// Remove removes x, if it is there.
func (s *Set[T]) Remove(x T) {
	s.Keep(func(y T) bool { return y != x })
}

// Keep removes the values for which stays returns false.
func (s *Set[T]) Keep(stays func(T) bool) {
	s.now.Change(func(all *[]T) *[]T {
		if all == nil {
			return nil
		}
		left := slices.DeleteFunc(slices.Clone(*all), func(x T) bool { return !stays(x) })
		switch len(left) {
		case len(*all):
			return all
		case 0:
			return nil
		}
		return &left
	})
}
