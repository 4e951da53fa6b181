package release

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
)

type held struct{ log *[]string }

func (h *held) Release() { *h.log = append(*h.log, "released") }

type carrier struct {
	pool.Object
	n    int
	a, b held
}

func TestBefore(t *testing.T) {
	var log []string
	c := &carrier{a: held{&log}, b: held{&log}}
	var plain carrier
	cleared := func(o *pool.Object) {
		require.Same(t, &c.Object, o)
		log = append(log, "cleared")
	}
	at := func(f unsafe.Pointer) uintptr { return uintptr(f) - uintptr(unsafe.Pointer(&plain)) }
	Values{
		At(at(unsafe.Pointer(&plain.n)), (*int)(nil)),
		At(at(unsafe.Pointer(&plain.a)), (*held)(nil)),
		At(at(unsafe.Pointer(&plain.b)), (*held)(nil)),
	}.Before(cleared)(&c.Object)
	require.Equal(t, []string{"released", "released", "cleared"}, log)

	log = nil
	Values{At(0, (*int)(nil))}.Before(cleared)(&c.Object)
	require.Equal(t, []string{"cleared"}, log)
}

func TestHolds(t *testing.T) {
	require.True(t, Holds[held]())
	require.False(t, Holds[*held]())
	require.False(t, Holds[int]())
	require.True(t, At(0, (*held)(nil)).Is())
	require.False(t, At(0, (*int)(nil)).Is())
}
