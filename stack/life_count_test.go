package stack

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// When a name becomes free, the actor that had it isn't counted in Living any more.
func TestUncountedBeforeItIsForgotten(t *testing.T) {
	h := newHand(t, 1)
	var living atomic.Int64
	living.Store(1)
	k, make := NewHouse(func() *keeper { return &keeper{} })
	k.Give(Props{Name: "k", Living: &living})
	h.drivers[0].Register(k, make, h.workers[0])
	last := &teller{h.drivers[0], &living, -1}
	h.workers[0].Driver = last
	k.Stop(&h.guests)
	h.settle()
	require.Zero(t, last.living)
	require.Zero(t, living.Load())
}

// teller is a Driver that notes how many actors are counted when one is Gone.
type teller struct {
	*handDriver
	count  *atomic.Int64
	living int64
}

func (f *teller) Gone(h *House) {
	f.living = f.count.Load()
	f.handDriver.Gone(h)
}
