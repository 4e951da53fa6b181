package house

// backoff is how often lately spinning for mail was in vain, which mostly pays.
type backoff uint8

// backoffMax is for how many in a row the pauses grow: up to 15.
const backoffMax = 4

// note takes down whether it paid, and returns how many occasions to let pass before it is
// tried again: twice as many and one more each time that it didn't, up to 15; each time
// that it did takes one off.
func (m *backoff) note(paid bool) (pause int) {
	if paid {
		*m -= min(*m, 1)
		return 0
	}
	*m = min(*m+1, backoffMax)
	return 1<<*m - 1
}
