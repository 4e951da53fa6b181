package away_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack/away"
)

// odd is a Remote of a process that has a name.
type odd struct {
	printer
	name string
}

func (o *odd) Node() string { return o.name }

// TestTitles: what a process calls itself makes no line of its own in a log.
func TestTitles(t *testing.T) {
	kind := reflect.TypeFor[call]()
	require.Equal(t, "away_test.call#42", away.Title[house, call](kind, 42, nil))
	for name, want := range map[string]string{
		"shop": "away_test.call#42@shop", "": "away_test.call#42@", "a\nb": `away_test.call#42@"a\nb"`, "\xff": `away_test.call#42@"\xff"`,
	} {
		require.Equal(t, want, away.Title[house, call](kind, 42, &odd{name: name}))
	}
}
