package cluster

import (
	"math/rand/v2"
	"testing"
)

// FuzzTrack has a node that has said HELLO send anything: frames that may be, in any order, and
// others. Nothing panics, an honest node is served as ever, and nothing of it is left behind.
func FuzzTrack(f *testing.F) {
	for seed := range uint64(seeds(150)) {
		r := rand.New(rand.NewPCG(seed, 31))
		b := make([]byte, 1+r.IntN(1<<r.IntN(13)))
		for i := range b {
			b[i] = byte(r.UintN(256))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newRogue(t, b)
		for len(r.choices) > 0 {
			r.step()
			balanced(t, r.there)
		}
		r.ends()
		balanced(t, r.there)
	})
}
