package table

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFetch: to look ahead changes nothing, whatever is there: nothing, few entries, a table that
// is being resized, entries of all lengths, and a full index's longest search.
func TestFetch(t *testing.T) {
	tab := New(Config{Seed: 1})
	fetch := func(key string) {
		fetchBoth(tab, []byte(key))
	}
	fetch("none")
	for i := range 5000 {
		key := fmt.Sprint("key", i)
		fetch(key)
		require.NoError(t, tab.Set([]byte(key), make([]byte, i%200), 0))
		fetch(key)
		fetch(fmt.Sprint("other", i))
	}
	for i := range 5000 {
		key := []byte(fmt.Sprint("key", i))
		fetchBoth(tab, key)
		value, ok := tab.Get(key, 0)
		require.True(t, ok)
		require.Len(t, value, i%200)
		require.True(t, tab.Delete(key, 0))
		fetchBoth(tab, key)
	}
	require.Zero(t, tab.Len())
}

// fetchBoth is what a caller does for one key.
func fetchBoth(t *Table, key []byte) { t.FetchEntry(t.FetchSlot(key)) }
