package channel

// Held is what a connection keeps in memory.
type Held struct {
	Unsent, Chunks, Inflight, Waiting, Input int
	Used                                     int // of the site's quota; if that is below 0, how far
	// bytes that the site's intake counts; if that is below 0, how far
	Intake int
	// who waits for the intake though nobody is to wake it
	Lost    int
	StuckAt int64
}

// Max returns the larger of each.
func (h Held) Max(other Held) Held {
	return Held{max(h.Unsent, other.Unsent), max(h.Chunks, other.Chunks), max(h.Inflight, other.Inflight),
		max(h.Waiting, other.Waiting), max(h.Input, other.Input), max(h.Used, other.Used), max(h.Intake, other.Intake), max(h.Lost, other.Lost), max(h.StuckAt, other.StuckAt)}
}

// Holds looks into a connection. Only a step of the actor that serves it may.
func Holds[Req, Rep any](of any) Held {
	c := of.(*conn[Req, Rep])
	h := Held{Unsent: c.out.unsent, Inflight: c.inflight.n, Waiting: c.inflight.heldBytes, Input: c.in.slab.Cap(), Used: max(c.site.quota.used, -c.site.quota.used),
		Intake: max(c.intake.used, -c.intake.used), StuckAt: c.stuckAt}
	if t := c.intake; t.leader == nil || !t.yetToRead && t.used < t.max {
		h.Lost = t.line.len()
	}
	for i := range c.out.chunks {
		h.Chunks += c.out.chunks[i].data.Cap()
	}
	return h
}

// Branches is how many actors with connections an Audience knows.
func Branches[Rep any](a *Audience[Rep]) int { return len(a.branches) }

// Site is the path of a server's first site.
func Site[Req, Rep any](s *Server[Req, Rep]) string { return s.sites[0].Path().Local() }

// Gone reports whether nothing is left of a listener.
func Gone(l Listener) bool { return l.at.House().Gone() }

// BeginDrain is the beginning of Drain.
func BeginDrain[Req, Rep any](s *Server[Req, Rep]) { s.tell(siteDrain) }
