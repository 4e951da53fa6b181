package frame

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestJoin joins notices, and requires the frame that Append makes of them, which nothing behind it
// has touched.
func TestJoin(t *testing.T) {
	number := func(r *rand.Rand) uint64 { return r.Uint64() >> r.IntN(64) }
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 5))
		about := fmt.Sprint("seed ", seed)
		one := Tell{To: number(r), Method: number(r), Message: make([]byte, r.IntN(300))}
		want := Tells{To: one.To, Method: one.Method, Messages: AppendMessage(nil, one.Message)}
		memory := bytes.Repeat([]byte{0xee}, JoinMax+1000)
		f := one.Append(memory[:0])
		f = f[: len(f) : len(f)+r.IntN(JoinMax)]
		for n := 1; ; n++ {
			before := string(f)
			for _, other := range []Tell{{To: one.To + 1, Method: one.Method}, {To: one.To, Method: one.Method ^ 1}, {To: one.To}} {
				if other.Method == one.Method && other.To == one.To {
					continue
				}
				_, ok := other.Join(f)
				require.False(t, ok, about)
			}
			one.Message = bytes.Repeat([]byte{byte(n)}, r.IntN(300))
			joined, ok := one.Join(f)
			if !ok {
				require.Equal(t, before, string(f), about)
				require.Greater(t, len(f)+len(one.Message)+2*numberMax, min(cap(f), JoinMax), about)
				break
			}
			f = joined
			want.Messages = AppendMessage(want.Messages, one.Message)
			require.Equal(t, want.Append(nil), f, about)
			require.Same(t, &memory[0], &f[0], about)
			require.LessOrEqual(t, len(f), JoinMax)
		}
		require.Empty(t, bytes.Trim(memory[len(f):], "\xee"), about)
	}
}

// TestJoinToOthers: no frame of another kind is joined to, whatever its bytes are.
func TestJoinToOthers(t *testing.T) {
	one := Tell{To: 1, Method: 1}
	for _, b := range samples() {
		f := b.Append(nil)
		if k := Kind(f[lengthBytes]); k != KindTell && k != KindTells {
			copy(f[head:], "\x01\x01")
			_, ok := one.Join(append(make([]byte, 0, 1<<10), f...))
			require.False(t, ok, "%s", k)
		}
	}
}

func TestJoinAllocatesNothing(t *testing.T) {
	one := Tell{To: 1000, Method: 1, Message: make([]byte, 200)}
	out := make([]byte, 0, JoinMax)
	housetest.ZeroAlloc(t, 10_000, func(n int) {
		f := one.Append(out)
		for range n {
			var ok bool
			if f, ok = one.Join(f); !ok {
				f = one.Append(out)
			}
		}
	})
}
