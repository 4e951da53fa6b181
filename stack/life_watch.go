package stack

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/lifecycle"
)

// watcher is an actor that is told when another one is gone: by a notice, whose message fill
// writes.
type watcher struct {
	to   *House   // of the actor that watches
	by   *Handler // of the notice
	fill func(notice *Stack, gone AnyAddress)
}

func (a watcher) gone() bool { return a.to.Gone() }

func (a watcher) same(b watcher) bool { return a.to == b.to && a.by == b.by }

// Watch has a notice by the given handler, with the message that fill writes, sent to the actor
// that runs s when the actor of target, which must be of the same system, is gone: once, even if it
// is watched twice. If it is gone already the notice is sent at once, for each Watch. Only a step
// of s may call it.
func (s *Stack) Watch(target *House, by *Handler, fill func(notice *Stack, gone AnyAddress)) {
	if by == nil { // panic here rather than where target stops
		panic("stack: a watcher without a handler")
	}
	if s.Engine().foreign(target) {
		panic("stack: an actor watches one of another system")
	}
	s.Engine().command(target, control{verb: command.Watch, watch: watcher{s.to, by, fill}})
}

// Unwatch ends Watch. A notice that is on its way still comes. Only a step of s may call it.
func (s *Stack) Unwatch(target *House, by *Handler) {
	if w := s.Engine(); !w.foreign(target) {
		w.command(target, control{verb: command.Unwatch, watch: watcher{to: s.to, by: by}})
	}
}

// watch adds a watcher of h or, if h is gone, tells it at once.
func (w *Engine) watch(h *House, who watcher) {
	l := h.life()
	if h.Gone() && (l == nil || l.Phase() == lifecycle.Gone) {
		w.tellWatcher(h, who)
		return
	}
	l = h.makeLife()
	if slices.ContainsFunc(l.watchers, who.same) {
		return
	}
	// before the slice grows, watchers that have stopped are removed
	if len(l.watchers) == cap(l.watchers) {
		l.watchers = slices.DeleteFunc(l.watchers, watcher.gone)
	}
	l.watchers = append(l.watchers, who)
}

func (h *House) unwatch(who watcher) {
	if l := h.life(); l != nil {
		l.watchers = slices.DeleteFunc(l.watchers, who.same)
	}
}

// awaited reports whether anybody is to be told of the end of l, or to be answered.
func (l *life) awaited() bool { return l != nil && (len(l.watchers) > 0 || l.waiters.head != nil) }

func (w *Engine) tellWatcher(h *House, who watcher) {
	s := w.Begin(who.by)
	who.fill(s, h.any())
	w.Squeeze(who.to, s)
}
