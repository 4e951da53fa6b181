package house

// misses is how often in a row something was tried in vain that mostly pays.
type misses uint8

// note takes down whether it paid, and returns how many occasions to let pass before it is
// tried again: twice as many and one more each time in a row that it didn't, for the first
// most times.
func (m *misses) note(paid bool, most misses) (pause int) {
	if paid {
		*m = 0
		return 0
	}
	*m = min(*m+1, most)
	return 1<<*m - 1
}
