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
	waiting []*handshake // the newest is the last
	crowds  map[netip.Addr]*crowd
	looks   bool // look is to be called
}

// crowd is how many handshakes there are of one address.
type crowd struct {
	from             netip.Addr // zero: nobody whose handshakes are bounded
	running, waiting int
}

// enter has h run: at once, or when others have gone.
func (g *gate) enter(h *handshake) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.crowd = g.crowdOf(h.from)
	if g.admits(h) {
		g.run(h)
		go g.work(h)
		return
	}
	g.waiting = append(g.waiting, h)
	h.crowd.waiting++
	if len(g.waiting) > waitingMax {
		g.drop(g.surplus())
	}
	g.relieve(h)
	g.lookLater()
}

// crowdOf returns the crowd of an address.
func (g *gate) crowdOf(from netip.Addr) *crowd {
	c := g.crowds[from]
	if c == nil {
		if g.crowds == nil {
			g.crowds = map[netip.Addr]*crowd{}
		}
		c = &crowd{from: from}
		g.crowds[from] = c
	}
	return c
}

// shrank forgets a crowd of nobody.
func (g *gate) shrank(c *crowd) {
	if c.running+c.waiting == 0 {
		delete(g.crowds, c.from)
	}
}

// surplus returns which of those that wait is the oldest of the address of which the most do.
func (g *gate) surplus() (oldest int) {
	for i, w := range g.waiting {
		if w.crowd.waiting > g.waiting[oldest].crowd.waiting {
			oldest = i
		}
	}
	return oldest
}

// drop takes out one of those that wait.
func (g *gate) drop(i int) {
	h := g.waiting[i]
	g.waiting = slices.Delete(g.waiting, i, i+1)
	h.crowd.waiting--
	g.shrank(h.crowd)
}

// admits reports whether h may run now.
func (g *gate) admits(h *handshake) bool {
	return len(g.running) < g.limits.Running && !g.isCrowded(h)
}

// isCrowded reports whether the address of h has as many running as it may have.
func (g *gate) isCrowded(h *handshake) bool {
	return h.from.IsValid() && h.crowd.running >= g.limits.RunningOfOne
}

// run notes that h runs.
func (g *gate) run(h *handshake) {
	g.running = append(g.running, h)
	h.crowd.running++
	h.relief = nil
}

// relieve has one handshake go, of those that keep h from running: the one that has waited longest
// for its other end. It reports false if none has for Limits.Patience. The place of one that went
// may have been given to another than h, for which nobody goes: then a further one does.
func (g *gate) relieve(h *handshake) bool {
	if h.relief != nil && slices.Contains(g.running, h.relief) {
		return true
	}
	var idlest *handshake
	crowded, since := g.isCrowded(h), time.Now().Add(-g.limits.Patience)
	for _, r := range g.running {
		if crowded && r.crowd != h.crowd {
			continue
		}
		if at, waits := r.waitsSince(); waits && at.Before(since) {
			idlest, since = r, at
		}
	}
	h.relief = idlest
	if idlest == nil {
		return false
	}
	idlest.giveUp(ErrHandshakeRoom)
	return true
}

// lookLater has look called once those that run may have lost the others' patience; not all the
// time, where that is short.
func (g *gate) lookLater() {
	if !g.looks {
		g.looks = true
		time.AfterFunc(max(g.limits.Patience, time.Millisecond), g.look)
	}
}

// look relieves those that wait, the newest first.
func (g *gate) look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.looks = false
	for _, w := range slices.Backward(g.waiting) {
		if !g.relieve(w) && !g.isCrowded(w) {
			break // nor can it relieve any other one
		}
	}
	if len(g.waiting) > 0 {
		g.lookLater()
	}
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
	h.crowd.running--
	g.shrank(h.crowd)
	best := -1
	for i, w := range g.waiting {
		if g.admits(w) && (best < 0 || g.rivals(w) <= g.rivals(g.waiting[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	w := g.waiting[best]
	g.yield(h, w)
	g.run(w) // first: its crowd is forgotten otherwise
	g.drop(best)
	return w
}

// yield notes that the place of h goes to another than it was promised to, maybe: the place that
// was promised to this one is for that one then.
func (g *gate) yield(h, to *handshake) {
	for _, w := range g.waiting {
		if w.relief == h {
			w.relief = to.relief
		}
	}
}

// rivals returns how many handshakes run that count as h does.
func (g *gate) rivals(h *handshake) int {
	if !h.from.IsValid() {
		return 0
	}
	return h.crowd.running
}

// leave has h go, if it waits for a goroutine. It reports false if it runs.
func (g *gate) leave(h *handshake) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, h)
	if i >= 0 {
		g.drop(i)
	}
	return i >= 0
}

func (g *gate) len() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.running), len(g.waiting)
}
