package house

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// TestDeadLettersOfOthers: a type has one count for all who count it, and the types beyond those
// that a worker tells apart have one together.
func TestDeadLettersOfOthers(t *testing.T) {
	sys, err := New(Config{Workers: 2, Manual: true})
	require.NoError(t, err)
	first, second, outside := &sys.workers[0].hot.Tally, &sys.workers[1].hot.Tally, &sys.guests.Events.Tally
	for range 64 {
		first.Add(new(stack.Handler), lost.Expired, 1)
	}
	kind := doerHear.DeadLetter(nil, lost.Full).Type
	require.NotEmpty(t, kind)
	for _, tally := range []*lost.Tally[stack.Handler]{first, second, outside} {
		tally.Add(doerHear, lost.Full, 10)
	}
	require.Equal(t, []LetterCount{{"", lost.Expired, 64}, {kind, lost.Full, 20}, {"other", lost.Full, 10}}, sys.DeadLetters())
	require.NoError(t, sys.Shutdown(t.Context()))
}
