package stack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack/quota"
)

// When a name becomes free, the actor that had it has left its quota.
func TestQuotaIsLeftBeforeTheName(t *testing.T) {
	h := newHand(t, 1)
	q := quota.New(1)
	require.True(t, q.Join())
	k, make := NewHouse(func() *keeper { return &keeper{} })
	k.Give(Props{Name: "k", Quota: q})
	h.drivers[0].Register(k, make, h.workers[0])
	last := &teller{h.drivers[0], q, -1}
	h.workers[0].Driver = last
	k.Stop(&h.guests)
	h.settle()
	require.Zero(t, last.left)
	require.Zero(t, q.Len())
}

// teller is a Driver that notes how many actors are in the quota when one is Gone.
type teller struct {
	*handDriver
	quota *quota.Quota
	left  int
}

func (f *teller) Gone(h *House) {
	f.left = f.quota.Len()
	f.handDriver.Gone(h)
}
