package wire

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// least returns what f allocates at least in several runs: others may allocate meanwhile.
func least(f func()) int {
	n := allocated(f)
	for range 4 {
		n = min(n, allocated(f))
	}
	return n
}

// TestBudgetIsWhatIsAllocated: what reading takes from the budget is about what it allocates, or
// more.
func TestBudgetIsWhatIsAllocated(t *testing.T) {
	type large struct {
		A [200]byte
		S string
	}
	maps := func(n int) any {
		m := map[int]uint8{}
		for i := range n {
			m[i] = 1
		}
		return m
	}
	apart := map[[150]byte][150]byte{}
	for i := range byte(64) {
		apart[[150]byte{i}] = [150]byte{}
	}
	bare := make([]map[string]string, 60)
	for i := range bare {
		bare[i] = map[string]string{}
	}
	padded := map[uint16]uint64{}
	for i := range uint16(200) {
		padded[i] = 1
	}
	for _, v := range []any{
		strings.Repeat("x", 5000), []string{"ab", "cdefghijkl"}, make([]uint64, 1000), make([]large, 100), make([][]uint8, 100),
		maps(0), maps(1), maps(7), maps(8), maps(9), maps(14), maps(15), maps(100), maps(1000), maps(1800), maps(10_000),
		map[uint8]uint64{1: 1}, maps(200), padded, map[string]large{"a": {}, "b": {}}, map[[150]byte][150]byte{{}: {}, {1}: {}}, apart, bare, [][]struct{}{{}, {}, {}},
		map[string][]string{"a": {"b", "c"}, "d": nil},
	} {
		p := reflect.New(reflect.TypeOf(v))
		p.Elem().Set(reflect.ValueOf(v))
		c := mustOf(p.Elem().Type(), true)
		in := c.Append(nil, p.UnsafePointer())
		var r Reader
		to := reflect.New(c.Type())
		took := least(func() {
			r.Reset(in)
			r.SetBudget(1 << 30)
			to.Elem().SetZero()
			require.NoError(t, c.Read(&r, to.UnsafePointer()))
		})
		spent := 1<<30 - r.Budget()
		about := fmt.Sprintf("%T: %d bytes allocated, %d counted", v, took, spent)
		require.Less(t, took, spent+spent/4+200, about)
		require.Less(t, spent, 3*took+500, about)

		r.Reset(in)
		r.SetBudget(spent)
		to.Elem().SetZero()
		require.NoError(t, c.Read(&r, to.UnsafePointer()))
		require.Zero(t, r.Budget())
		if spent > 0 {
			r.Reset(in)
			r.SetBudget(spent - 1)
			to.Elem().SetZero()
			require.Equal(t, ErrBudget, c.Read(&r, to.UnsafePointer()), about)
		}
	}
}

func TestBudgetOfReset(t *testing.T) {
	var r Reader
	r.Reset(make([]byte, 100))
	require.Equal(t, 100*16+4096, r.Budget())
	require.Equal(t, 100*3+5, Budget{Factor: 3, Least: 5}.Of(100))
	for _, factor := range []int{0, 1, math.MaxInt} {
		require.Equal(t, math.MaxInt, Budget{Factor: factor, Least: 15}.Of(math.MaxInt))
	}
	require.Equal(t, math.MaxInt, Budget{Factor: 1, Least: 15}.Of(math.MaxInt-15))
	r.SetBudget(-1)
	require.Zero(t, r.Budget())
}

// TestBudgetOfMaps: what a map of that many entries takes from the budget, to the byte.
func TestBudgetOfMaps(t *testing.T) {
	const word = int(pointerSize)
	for _, c := range []struct {
		of   any
		n    int
		want int
	}{
		{map[int32]int32{}, 0, 96 + 8},
		{map[int32]int32{}, 1, 96 + 8 + 8*9},
		{map[int32]int32{}, 7, 96 + 8 + 8*9},
		{map[int32]int32{}, 8, 96 + 8 + 16*9},
		{map[uint32]uint8{}, 1, 96 + 5 + 8*9}, // to be a multiple of four
		{map[uint8]uint32{}, 1, 96 + 5 + 8*9},
		{map[uint8]uint8{}, 1, 96 + 2 + 8*3},
		{map[[128]uint8]uint8{}, 2, 96 + 129 + 8*130},
		{map[[129]uint8]uint8{}, 2, 96 + 130 + 8*(2*word+1) + 2*129},
		{map[uint8][129]uint8{}, 3, 96 + 130 + 8*(2*word+1) + 3*129},
	} {
		r := Reader{budget: 1 << 20}
		require.True(t, r.spendMap(c.n, reflect.TypeOf(c.of)))
		require.Equal(t, c.want, 1<<20-r.Budget(), "%T of %d", c.of, c.n)
	}
}

// TestMapSlots: the fewest that are a power of two and leave one of eight empty.
func TestMapSlots(t *testing.T) {
	require.Zero(t, mapSlots(0))
	slots := 8
	for n := 1; n < 10_000; n++ {
		if n > slots/8*7 {
			slots *= 2
		}
		require.Equal(t, slots, mapSlots(n), n)
	}
}

// TestMuchFromLittle: no message of a few bytes makes much memory, nor takes long.
func TestMuchFromLittle(t *testing.T) {
	huge := "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
	nils := ErrBudget // 24 bytes of memory for a byte
	if narrow {
		nils = nil
	}
	for _, c := range []struct {
		of  any
		in  string
		err error
	}{
		{[]struct{}{}, huge, ErrTruncated},
		{[][0]string{}, huge, ErrTruncated},
		{[]struct {
			A [1000]int `wire:"-"`
		}{}, huge, ErrTruncated},
		{[]struct {
			A [1000]int `wire:"-"`
		}{}, "\x65" + strings.Repeat("\x00", 100), ErrBudget},
		{map[struct{}]struct{}{}, huge, ErrTruncated},
		{map[struct{}][0]int{}, "\x65" + strings.Repeat("\x00", 100), ErrDuplicate},
		{map[uint8]struct {
			A [1000]int `wire:"-"`
		}{}, "\x03\x01\x02", ErrBudget},
		{[][]byte{}, "\xe9\x07" + strings.Repeat("\x00", 1000), nils},
		{[]string{}, "\xe9\x07" + strings.Repeat("\x00", 1000), nil},
		{"", huge, ErrTruncated},
		{[]byte{}, huge, ErrTruncated},
		{pool.Bytes{}, huge, ErrTruncated},
	} {
		codec := mustOf(reflect.TypeOf(c.of), true)
		to := reflect.New(codec.Type())
		var r Reader
		var err error
		took := least(func() {
			to.Elem().SetZero()
			r.Reset([]byte(c.in))
			err = codec.Read(&r, to.UnsafePointer())
		})
		require.Equal(t, c.err, err, "%T", c.of)
		require.Less(t, took, (Budget{}).Of(len(c.in))*5/4+200, "%T", c.of)
	}
}

// TestCopiesAreInTheBudget: chunks are counted as the slabs that they are.
func TestCopiesAreInTheBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var v [][]byte
		for range r.IntN(30) {
			v = append(v, make([]byte, r.IntN(3000)))
		}
		c := mustOf(reflect.TypeFor[[][]byte](), true)
		b := lent(Append(c, nil, &v), 128<<10)
		before := b.r.Budget()
		var got [][]byte
		require.NoError(t, Read(c, &b.r, &got))
		require.Equal(t, before-b.r.Budget(), b.carrier.Size()+len(v)*int(reflect.TypeFor[[]byte]().Size()))
	}
	b := lent(AppendBytes(nil, make([]byte, 100)), 4096)
	b.r.SetBudget(127)
	require.Nil(t, b.r.Bytes())
	require.Equal(t, ErrBudget, b.r.Err())
	require.True(t, b.carrier.Empty())
	var plain Reader
	plain.Reset(AppendBytes(nil, make([]byte, 100)))
	plain.SetBudget(127)
	require.Zero(t, plain.PoolBytes())
	require.Equal(t, ErrBudget, plain.Err())
}
