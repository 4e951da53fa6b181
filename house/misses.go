package house

// misses is how often lately something was tried in vain that mostly pays.
type misses uint8

// note takes down whether it paid, and returns how many occasions to let pass before it is
// tried again: twice as many and one more each time that it didn't, up to most times; each time
// that it did takes one off.
func (m *misses) note(paid bool, most misses) (pause int) {
	if paid {
		*m -= min(*m, 1)
		return 0
	}
	*m = min(*m+1, most)
	return 1<<*m - 1
}
