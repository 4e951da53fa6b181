package cluster

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
)

// This file is the other half of balance_test.go: whatever a node owes, or waits for, is where
// somebody finds it, so that nothing waits for ever.

// rule fails a test with what doesn't hold.
type rule func(holds bool, what string, of ...any)

// owed requires it of a node, whose system stands still.
func owed(t testing.TB, n *Node) {
	t.Helper()
	h := n.self
	if h.over || h.at == nil || h.at.Gone() {
		return
	}
	is := func(holds bool, what string, of ...any) {
		t.Helper()
		if !holds {
			require.FailNow(t, n.Name(), append([]any{what}, of...)...)
		}
	}
	is(len(h.links) <= h.linksMax, "%d nodes are known", len(h.links))
	is(!h.scratch.names.mine && h.scratch.kept.Reply == nil, "scratch that somebody used")
	for name, l := range h.links {
		is(l.name == name && len(l.tracks) == n.config.Tracks && !l.settling, "link %s", l.name)
		l.owed(is)
	}
	h.served.owed(is)
	h.retries.owed(is)
	wait := map[*serving]bool{}
	for at, o := range h.overflows {
		o.owed(is)
		for _, w := range o.calls[o.first:] {
			wait[w.of] = true
		}
		is(!slices.Contains(h.spare, o), "the overflow of %v is spare", at)
	}
	for i, s := range h.served.asks {
		is(s.waits == wait[s], "ask %d waits for room: %t", i, s.waits)
	}
	for by, all := range h.broods {
		is(len(all) <= n.config.SpawnedMax, "%d actors that %s has spawned", len(all), by)
	}
}

func (l *link) owed(is rule) {
	known, over := 0, false
	for i, k := range l.tracks {
		if is(k.number == i && k.link == l, "track %d", i); k.over == nil {
			k.owed(is)
		}
		known, over = known+len(k.standIns)-1, over || k.over != nil
	}
	is(over || len(l.bySerial) == known, "%d actors by their serials, of %d", len(l.bySerial), known)
	for i := range l.dials {
		d := &l.dials[i]
		dials := l.State(i) == session.Dialling
		is(d.link == l && d.track == i && (d.number != 0) == dials, "dial %d of track %d, which is %d", d.number, i, l.State(i))
		is(!dials || d.busy || l.address == "", "track %d waits for a dial", i)
	}
	if at, ok := l.Wake(); ok {
		is(l.ring != 0 && l.ring <= max(at, l.hub.w.Now), "the alarm is for %d, and it is due at %d", l.ring, at)
	}
}

func (k *track) owed(is rule) {
	l, h := k.link, k.link.hub
	is(k.conn == nil || slices.Contains(l.conns, k.conn) && l.State(k.number) == session.Up, "a connection that the link doesn't know")
	left := k.out.Left()
	is(k.wanted == (left.End != left.Acknowledged || k.busy+k.held+k.awaited+k.owing > 0), "wanted: %t", k.wanted)
	is(!k.freed, "what was read wasn't settled")
	owe := k.debts.owed(is)
	answers := k.answers.owed(is)
	// What waits for room: an ACK tells of that.
	full := k.out.Room() < frame.FrameMax
	is(k.debts.first == nil || full, "news wait, and there is room")
	is(k.answers.first == nil || full || k.passes(), "answers wait, and there is room")
	is(len(k.parcels.behind) == 0 || full || !k.answersLong(), "long answers wait, and there is room")
	is(len(k.parcels.out) == 0 || full || k.parcels.flying >= k.link.hub.node.config.Window/2, "pieces wait, and there is room")
	is(!k.callsWait() || left.End != left.Acknowledged, "calls wait for nothing")
	waits := map[*standIn]bool{}
	for _, r := range slices.Concat(k.starved, k.fed) {
		is(r.starved && !waits[r], "a stand-in that waits twice")
		waits[r] = true
	}
	sends := map[*standIn]bool{}
	writes := map[*slot]bool{}
	for _, p := range k.parcels.out {
		is(p.at < len(p.frame), "all of a parcel is written")
		if p.from != nil {
			is(!sends[p.from], "two parcels of one actor")
			sends[p.from] = true
		}
		if p.slot != nil {
			writes[p.slot] = true
		}
	}
	for _, p := range k.parcels.sent {
		is(p.end > left.Acknowledged && p.end <= left.End, "a parcel that was acknowledged")
	}
	for _, p := range k.parcels.pieces {
		is(p.end > left.Acknowledged && p.end <= left.End, "a piece that was acknowledged")
	}
	for number, a := range k.parcels.in {
		is(a.came < a.total, "all of frame %d has come", number)
	}
	stopped := 0
	for i, r := range k.standIns {
		stopped += btoi(r.gone && !r.sending)
		is(r.track == k && int(r.number) == i, "stand-in %d", i)
		is(r.starved == waits[r] && r.sending == sends[r], "stand-in %d waits, or sends", i)
		is(r.owed == owe[r], "stand-in %d owes", i)
		is(i == 0 || l.bySerial[r.serial] == r, "stand-in %d by its serial", i)
		is(!r.gone || !r.held && !r.awaited, "stand-in %d of an actor that is gone", i)
		is(r.gone || r.owed || (r.declared || i == 0) && len(r.commands) == 0 && r.awaited == r.watched, "stand-in %d has news", i)
	}
	is(stopped == len(k.unused), "%d of %d numbers of the stopped are free", len(k.unused), stopped)
	for i, s := range k.slots {
		is(s.track == k && int(s.number) == i && s.owed == owe[s] && s.long == writes[s], "slot %d", i)
		is(s.busy == (s.from != nil) && (s.busy || s.call == nil), "slot %d is free", i)
		is(s.call == nil || int(s.call.Slot()) == i, "slot %d is of its call", i)
	}
	for i, r := range k.refs {
		is(r.track == k && int(r.number) == i && r.owed == (owe[r] || answers[r]), "ref %d", i)
		is(r.said || r.owed || r.held == r.told, "ref %d has HOLD or RESUME", i)
		is(r.said == r.gone || answers[r] || owe[r], "ref %d has GONE", i)
		is(!r.held || h.overflows[r.house] != nil && slices.Contains(h.overflows[r.house].held, r), "ref %d is held", i)
	}
	for i, s := range k.serving {
		if s == nil {
			continue
		}
		is(s.track == k && h.served.asks[s.number] == s && s.runs == nil && s.owed == answers[s], "ask %d that is served", i)
		there := s.err != nil || s.ended || s.awaits != nil && s.awaits.done
		is(there == (s.owed || slices.Contains(k.parcels.behind, s)), "the answer of ask %d", i)
		is(there || s.call != nil || s.awaits != nil && s.awaits.waiting == s, "ask %d waits for nothing", i)
	}
}

// owed returns those in a queue.
func (q *debts) owed(is rule) map[debtor]bool {
	all := map[debtor]bool{}
	for d := q.first; d != nil; d = d.links().next {
		if is(d.links().owed && !all[d], "a debtor that is queued twice"); d.links().next == nil {
			is(d == q.last, "the last debtor")
		}
		all[d] = true
	}
	return all
}

func (b *table) owed(is rule) {
	free := map[*serving]bool{}
	for s := b.free; s != nil; s = s.next {
		is(!free[s] && s.call == nil && s.track == nil && s.runs == nil, "a free ask")
		free[s] = true
	}
	for i, s := range b.asks {
		is(int(s.number) == i, "ask %d", i)
		switch t := s.track; {
		case free[s]:
		case s.runs != nil:
			is(s.call != nil && !s.runs.done, "keyed ask %d runs", i)
		case t.over != nil:
			is(s.given && s.call != nil, "ask %d of a session that is over", i)
		default:
			is(t.serving[s.slot] == s, "ask %d by its slot", i)
		}
	}
}

func (b *retries) owed(is rule) {
	busy, queue, ports := map[*retrier]int{}, map[*retrier]int{}, map[*retrier]bool{}
	for i, p := range b.all {
		if is((p == nil) == slices.Contains(b.free, uint32(i)), "retry %d is free", i); p == nil {
			continue
		}
		ports[p.by] = true
		is(int(p.number) == i && (p.call == nil || int(p.call.Slot()) == i), "retry %d", i)
		busy[p.by]++
		queue[p.by] += btoi(p.queued)
	}
	for r := range ports {
		is(r.busy == busy[r] && len(r.queue) == queue[r], "%d retries, of which %d are queued: %d and %d", busy[r], queue[r], r.busy, len(r.queue))
	}
}

func (o *overflow) owed(is rule) {
	drains := 0
	for _, w := range o.calls[o.first:] {
		drains += btoi(w.call == nil)
		is(w.of == nil || w.of.waits && w.of.call == w.call, "an ask that waits for room")
	}
	is(o.first < len(o.calls) && drains <= 1 && (drains == 0 || o.drains), "an overflow of %d calls and %d drains", len(o.calls)-o.first, drains)
	for i, r := range o.held {
		is(r.house == o.house && !slices.Contains(o.held[:i], r), "a ref that is held")
	}
}
