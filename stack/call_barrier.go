package stack

// endBars is the bit in Stack.ends of a stack that has a barrier.
const endBars = 1 << 7

// Barrier holds the actor's calls until s ends, so that no other call begins. Calls in progress go
// on. Only a step of s may call it.
func (s *Stack) Barrier() {
	if s.state != running {
		s.misuse()
	}
	s.used = true
	s.bar()
}

// bar begins the barrier of s, unless it has one.
func (s *Stack) bar() {
	if s.ends&endBars != 0 {
		return
	}
	s.ends |= endBars
	s.to.rooms().bars++
	s.to.hold(heldByBarrier)
}

// unbar ends the barrier of s.
//
//go:noinline
func (w *Engine) unbar(s *Stack) {
	s.ends &^= endBars
	a := s.to.annex.Load()
	if a.bars--; a.bars == 0 {
		w.release(s.to, heldByBarrier)
	}
}

// isolate is Barrier for s, which is suspended, of an actor whose house has flags.Alone.
//
//go:noinline
func (s *Stack) isolate() {
	if s.by.kind != nil && s.by.class != classHook { // a connection's own stack has no kind
		s.bar()
	}
}
