package channel

// Held is what a connection keeps in memory.
type Held struct {
	Unsent, Chunks, Inflight, Input int
	StuckAt                         int64
}

// Holds looks into a connection. Only a step of the actor that serves it may.
func Holds[Req, Rep any](of any) Held {
	c := of.(*conn[Req, Rep])
	h := Held{Unsent: c.out.unsent, Inflight: c.inflight.Len(), Input: c.in.Cap(), StuckAt: c.stuckAt}
	for i := range c.out.chunks {
		h.Chunks += c.out.chunks[i].data.Cap()
	}
	return h
}

// Site is the path of a server's first site.
func Site[Req, Rep any](s *Server[Req, Rep]) string { return s.sites[0].Path().Local() }
