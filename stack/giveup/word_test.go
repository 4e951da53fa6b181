package giveup

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWord looks at each state, and makes the transitions that swap.
func TestWord(t *testing.T) {
	for name, c := range map[string]struct {
		set            func(*Word)
		doubtful, held bool
		heed, answer   bool
	}{
		"wanted":    {set: func(*Word) {}},
		"given up":  {set: (*Word).GiveUp, doubtful: true},
		"chained":   {set: (*Word).Chain, doubtful: true, heed: true, answer: true},
		"held back": {set: (*Word).HoldBack, doubtful: true, held: true},
		"let begin": {set: func(w *Word) { w.HoldBack(); w.LetBegin() }},
		"heeded":    {set: func(w *Word) { w.Chain(); w.Heed() }, doubtful: true},
		"answered":  {set: func(w *Word) { w.Chain(); w.Answer() }, doubtful: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, swap := range []bool{true, false} {
				var w Word
				c.set(&w)
				require.Equal(t, c.doubtful, w.Doubtful())
				require.Equal(t, c.held, w.HeldBack())
				if swap {
					require.Equal(t, c.heed, w.Heed())
				} else {
					require.Equal(t, c.answer, w.Answer())
				}
				require.Equal(t, c.doubtful, w.Doubtful())
			}
		})
	}
}

// Exactly one puts a call: the side that takes it from the chain, or the one that brings its answer
// home.
func TestOnePuts(t *testing.T) {
	for range 10_000 {
		var w Word
		w.Chain()
		var both sync.WaitGroup
		heeded := false
		both.Go(func() { heeded = w.Heed() })
		answered := w.Answer()
		both.Wait()
		require.NotEqual(t, heeded, answered)
	}
}
