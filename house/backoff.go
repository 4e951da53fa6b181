package house

// backoff says how often spinning for mail is skipped. It grows when spinning found none.
type backoff uint8

// backoffMax bounds a backoff: its pauses are at most 2^4-1 = 15 occasions.
const backoffMax = 4

// note notes whether spinning has paid, and returns how many occasions to skip before the next try:
// none if it has paid, otherwise 1, 3, 7 and 15 for failures in a row. Each success takes back one
// failure.
func (m *backoff) note(paid bool) (pause int) {
	if paid {
		*m -= min(*m, 1)
		return 0
	}
	*m = min(*m+1, backoffMax)
	return 1<<*m - 1
}
