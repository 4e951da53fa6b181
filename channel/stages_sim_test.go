package channel_test

import (
	"math/rand/v2"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/stage"
)

// whims is a Stage that passes bytes as they are, but at times of its own: it keeps some for a
// while, and holds the connection. It has a number of whims, and passes everything at once then.
type whims struct {
	rng      *rand.Rand
	left     int
	up, down []byte
}

// whimsOf returns what makes stages of n whims.
func whimsOf(seed uint64, n int) func() []stage.Stage {
	if n == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 9))
	return func() (all []stage.Stage) {
		for range 1 + rng.IntN(2) {
			all = append(all, &whims{rng: rand.New(rand.NewPCG(rng.Uint64(), 0)), left: rng.IntN(n + 1)})
		}
		return all
	}
}

// some is how many of n bytes pass now.
func (w *whims) some(n int) int {
	if w.left == 0 {
		return n
	}
	w.left--
	return w.rng.IntN(n + 1)
}

// again has Tick called soon, as long as something is kept or held.
func (w *whims) again(f *stage.Flow) { f.Alarm(time.Duration(w.rng.IntN(1 << w.rng.IntN(24)))) }

func (w *whims) Receive(f *stage.Flow, p []byte) error {
	w.up = append(w.up, p...)
	n := w.some(len(w.up))
	f.Up(w.up[:n])
	w.up = append(w.up[:0], w.up[n:]...)
	w.mood(f)
	return nil
}

func (w *whims) ReceiveEnd(f *stage.Flow) error {
	f.Up(w.up)
	w.up = nil
	return nil
}

func (w *whims) Send(f *stage.Flow, p []byte) error {
	w.down = append(w.down, p...)
	n := w.some(len(w.down))
	f.Down(w.down[:n])
	w.down = append(w.down[:0], w.down[n:]...)
	w.mood(f)
	return nil
}

func (w *whims) SendEnd(f *stage.Flow) error {
	f.Down(w.down)
	w.down = nil
	return nil
}

func (w *whims) mood(f *stage.Flow) {
	hold := func() bool { return w.left > 0 && w.rng.IntN(3) == 0 }
	reading, sending := hold(), hold()
	f.HoldReading(reading)
	f.HoldSending(sending)
	if reading || sending || len(w.up)+len(w.down) > 0 {
		w.again(f)
	}
}

func (w *whims) Tick(f *stage.Flow) error {
	n, m := w.some(len(w.up)), w.some(len(w.down))
	f.Up(w.up[:n])
	f.Down(w.down[:m])
	w.up, w.down = append(w.up[:0], w.up[n:]...), append(w.down[:0], w.down[m:]...)
	w.mood(f)
	return nil
}
