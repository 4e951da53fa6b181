package stack

// endBars is set in Stack.ends of one that keeps other calls of its actor from beginning.
const endBars = 1 << 7

// Barrier holds the actor's calls until s ends: nothing else of the actor begins. Those in
// progress go on. Only a step of s may call it.
func (s *Stack) Barrier() {
	if s.state != running {
		s.misuse()
	}
	s.used = true
	s.bar()
}

// bar has s be one for which the actor's calls are held.
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

// isolate is Barrier for s, which is suspended, of an actor that is handled alone.
//
//go:noinline
func (s *Stack) isolate() {
	if s.by.kind != nil && s.by.class != classHook { // a connection's own stack has no kind
		s.bar()
	}
}
