package session

import (
	"testing"
)

// play runs a session of which each connection is lost when it has carried so many bytes, both ways
// together; the one after them lives. It returns how many bytes the last one has carried.
func (p *pair) play(lives ...int) (carried int) {
	for i := range len(lives) + 1 {
		p.connect()
		carried = 0
		for silent := 0; silent < 3 && p.problem() == ""; silent++ {
			n := 0
			for _, way := range [2][2]*end{{p.a, p.b}, {p.b, p.a}} {
				from, to := way[0], way[1]
				from.write()
				from.acknowledge()
				if i < len(lives) && carried == lives[i] {
					silent = 3
					break
				}
				one := carry(from, to, 1)
				n, carried = n+one, carried+one
				to.read()
			}
			switch {
			case n > 0 && silent < 3:
				silent = -1
			case p.a.done() && p.b.done():
				return carried
			case silent == 0:
				p.a.ask()
				p.b.ask()
			}
		}
	}
	return carried
}

// TestResetsAtEveryByte loses the first connection at each of its bytes, and then the second at
// each of its own: every frame comes once, and in order.
func TestResetsAtEveryByte(t *testing.T) {
	for _, test := range []struct {
		window, size, room int
		a, b               []int
	}{
		{21, 14, 1 << 10, []int{7, 9, 8, 14, 7}, []int{8, 7, 7}}, // the window has room for two frames
		{1 << 10, 64, 1 << 10, []int{7, 12, 9, 7}, []int{10, 7}}, // no end waits for an ACK
		{16, 16, 16, []int{16, 7, 8, 16}, nil},                   // one way only
	} {
		fresh := func() *pair { return makePair(test.window, test.size, test.room, test.a, test.b) }
		whole := fresh().play()
		runs := 0
		for first := range whole + 1 {
			for second := range whole + 20 {
				p := fresh()
				p.play(first, second)
				if problem := p.finish(); problem != "" {
					t.Fatalf("%+v, resets at %d and %d: %s", test, first, second, problem)
				}
				runs++
			}
		}
		if whole < 60 || runs < 3600 {
			t.Errorf("%d runs of %d bytes: what is tried?", runs, whole)
		}
	}
}

// TestManyResets loses all connections at the same byte. Each that lives long enough for HELLOs, a
// PING, an ACK and a frame each way brings the session on: so it ends.
func TestManyResets(t *testing.T) {
	sizes := []int{7, 9, 20, 7, 7, 13, 8, 7, 19, 7}
	enough := 2 * (17 + 5 + 8 + 20)
	for life := range enough + 50 {
		p := makePair(20, 20, 1<<10, sizes, sizes)
		lives := make([]int, 200)
		for i := range lives {
			lives[i] = life
		}
		p.play(lives...)
		if problem := p.finish(); problem != "" {
			t.Fatalf("resets at %d: %s", life, problem)
		}
		if life >= enough && p.connections > 2*len(sizes) {
			t.Errorf("resets at %d: %d connections for %d frames each way", life, p.connections, len(sizes))
		}
	}
}
