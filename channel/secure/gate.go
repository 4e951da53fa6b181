package secure

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// waitingMax is how many handshakes may wait for a goroutine. With a further one the oldest of
// those whose address has the most has no chance any more. It isn't told: it would come again at
// once.
const waitingMax = 256

// gate is the goroutines of handshakes, and who waits for one.
type gate struct {
	limits  *Limits
	mu      sync.Mutex
	running []*handshake
	waiting []*handshake       // the newest is the last
	of      map[netip.Addr]int // how many are running, by address
}

// enter has h run: at once, or when others have gone. It has one of those go that wait for the
// other end, if all goroutines are taken that h may have.
func (g *gate) enter(h *handshake) {
	g.mu.Lock()
	if g.admits(h) {
		g.add(h)
		g.mu.Unlock()
		go g.work(h)
		return
	}
	idlest := g.idlest(h)
	g.waiting = append(g.waiting, h)
	if len(g.waiting) > waitingMax {
		i := g.surplus()
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	g.mu.Unlock()
	if idlest != nil {
		idlest.giveUp(ErrHandshakeRoom)
	}
}

// surplus returns which of those that wait is the oldest of the address of which the most do.
func (g *gate) surplus() (oldest int) {
	of := make(map[netip.Addr]int, len(g.waiting))
	for _, w := range g.waiting {
		of[w.from]++
	}
	for i, w := range g.waiting {
		if of[w.from] > of[g.waiting[oldest].from] {
			oldest = i
		}
	}
	return oldest
}

// admits reports whether h may run now.
func (g *gate) admits(h *handshake) bool {
	return len(g.running) < g.limits.Running && (!h.from.IsValid() || g.of[h.from] < g.limits.RunningOfOne)
}

// add notes that h runs.
func (g *gate) add(h *handshake) {
	g.running = append(g.running, h)
	if g.of == nil {
		g.of = map[netip.Addr]int{}
	}
	if h.from.IsValid() {
		g.of[h.from]++
	}
}

// idlest returns the handshake, of those that keep h from running, that has waited longest for its
// other end; nil if none has for Limits.Patience.
func (g *gate) idlest(h *handshake) (idlest *handshake) {
	crowd := h.from.IsValid() && g.of[h.from] >= g.limits.RunningOfOne
	since := time.Now().Add(-g.limits.Patience)
	for _, r := range g.running {
		if crowd && r.from != h.from {
			continue
		}
		if at, waits := r.waitsSince(); waits && at.Before(since) {
			idlest, since = r, at
		}
	}
	return idlest
}

// work runs h, and then those that wait, as long as there are any that may run.
func (g *gate) work(h *handshake) {
	for ; h != nil; h = g.next(h) {
		h.run()
	}
}

// next takes the place of h, which has ended, for another: one whose address has the fewest
// running, and of these the newest, which is the likeliest to be waited for.
func (g *gate) next(h *handshake) *handshake {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = slices.DeleteFunc(g.running, func(r *handshake) bool { return r == h })
	if g.of[h.from]--; g.of[h.from] <= 0 { // below 0 if it isn't counted
		delete(g.of, h.from)
	}
	best := -1
	for i, w := range g.waiting {
		if g.admits(w) && (best < 0 || g.runningOf(w) <= g.runningOf(g.waiting[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	h = g.waiting[best]
	g.waiting = slices.Delete(g.waiting, best, best+1)
	g.add(h)
	return h
}

// runningOf returns how many handshakes run that count as h does.
func (g *gate) runningOf(h *handshake) int {
	if !h.from.IsValid() {
		return 0
	}
	return g.of[h.from]
}

// leave has h go, if it waits for a goroutine. Otherwise it reports false.
func (g *gate) leave(h *handshake) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, h)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return i >= 0
}

func (g *gate) len() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.running), len(g.waiting)
}
