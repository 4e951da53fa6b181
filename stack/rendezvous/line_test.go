package rendezvous

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Sweep hands out those that are gone, and leaves the others in the line; Finish wakes these, and
// hands out those that have gone since.
func TestLine(t *testing.T) {
	var l Line
	cells := []*Cell{made(), made(), made(), made()}
	for _, c := range cells {
		l.Join(c)
	}
	var freed []*Cell
	free := func(c *Cell) {
		require.Nil(t, c.behind)
		freed = append(freed, c)
	}
	require.True(t, cells[1].Leave())
	l.Sweep(free)
	require.Equal(t, cells[1:2], freed)
	require.True(t, cells[2].Leave())
	l.Finish(free)
	require.Equal(t, cells[1:3], freed)
	for _, c := range []*Cell{cells[0], cells[3]} {
		require.NoError(t, c.Block(context.Background(), 0))
		require.Nil(t, c.behind)
	}
	l.Finish(free)
	l.Sweep(free)
	require.Len(t, freed, 2)
}

// Goroutines join, give up and are told at once: each is told or handed out, once.
func TestLineAtOnce(t *testing.T) {
	var l Line
	var freed, told atomic.Int32
	free := func(*Cell) { freed.Add(1) }
	var all sync.WaitGroup
	const each = 200
	for i := range 4 {
		all.Go(func() {
			for n := range each {
				c := made()
				l.Join(c)
				if (n+i)%2 == 0 && c.Leave() {
					l.Sweep(free)
					continue
				}
				l.Finish(free)
				if c.Block(context.Background(), 0) == nil {
					told.Add(1)
				}
			}
		})
	}
	all.Wait()
	l.Finish(free)
	require.EqualValues(t, 4*each, freed.Load()+told.Load())
}
