package cluster

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file is what holds of a node between any two steps of its hub: each count is that of what
// there is. The simulations look at it all the time.

// balanced requires it of a node, whose system stands still.
func balanced(t testing.TB, n *Node) {
	t.Helper()
	h := n.self
	if h.over || h.at == nil || h.at.Gone() {
		return
	}
	same := func(is, want int, what string, of ...any) {
		t.Helper()
		if is != want {
			require.Equal(t, want, is, "%s: %s", n.Name(), fmt.Sprintf(what, of...))
		}
	}
	waiting := map[*link]int{}
	for at, o := range h.overflows {
		require.Same(t, at, o.house)
		for _, w := range o.calls[o.first:] {
			if w.link != nil {
				waiting[w.link] += w.size
			}
		}
		for _, r := range o.held {
			require.True(t, r.held)
		}
	}
	for _, o := range h.spare {
		require.True(t, o.house == nil && !o.drains && len(o.calls)+o.first+len(o.held) == 0, "a spare overflow")
	}
	watched := map[*ref]bool{}
	for at, all := range h.watched {
		require.NotEmpty(t, all)
		for _, r := range all {
			require.True(t, r.watched && r.house == at && !watched[r], "a ref that watches")
			watched[r] = true
		}
	}
	for _, l := range h.links {
		same(l.waiting, waiting[l], "bytes that wait, of %s", l.name)
		numbers := map[uint64]bool{}
		for _, c := range l.conns {
			require.True(t, c.link == l && c.of != nil, "a connection that was closed is of %s", l.name)
			require.True(t, c.number != 0 && !numbers[c.number], "number %d of a connection of %s", c.number, l.name)
			require.True(t, c.track == nil || c.track.conn == c, "a track of %s has another connection", l.name)
			numbers[c.number] = true
		}
		for _, k := range l.tracks {
			if k.over == nil {
				k.balanced(same, watched)
			}
		}
	}
	h.replies.balanced(same)
	owed(t, n)
}

// balanced looks at a track whose session isn't over.
func (k *track) balanced(same func(is, want int, what string, of ...any), watched map[*ref]bool) {
	busy, away := 0, map[*standIn]int{}
	for _, s := range k.slots {
		if s.busy {
			busy++
			away[s.from]++
		}
	}
	same(k.busy, busy, "slots that are busy")
	for s := k.free; s != nil; s = s.next {
		same(btoi(s.busy), 0, "a free slot is busy")
		busy++
	}
	same(len(k.slots), busy, "slots that are busy or free")
	held, awaited := 0, 0
	for _, r := range k.standIns {
		same(r.away, away[r], "asks of stand-in %d that are away", r.number)
		held, awaited = held+btoi(r.held), awaited+btoi(r.awaited)
	}
	same(k.held, held, "stand-ins that are held")
	same(k.awaited, awaited, "stand-ins that are awaited")
	unused := map[uint64]bool{}
	for _, u := range k.unused {
		same(btoi(unused[u.number]), 0, "number %d is free twice", u.number)
		same(btoi(k.standIns[u.number].gone), 1, "number %d is free, and its actor lives", u.number)
		unused[u.number] = true
	}
	owing := 0
	for i, s := range k.serving {
		if s != nil {
			owing++
			same(int(s.slot), i, "slot of an ask that is served")
		}
	}
	for _, r := range k.refs {
		owing += btoi(r.watched) + btoi(r.held)
		if r.watched && !r.gone {
			same(btoi(watched[r]), 1, "ref %d watches", r.number)
		}
	}
	same(k.owing, owing, "what the other end waits for")
	flying, left := 0, 0
	for _, p := range k.parcels.pieces {
		flying += p.n
	}
	for _, p := range k.parcels.out {
		left += len(p.frame) - p.at
	}
	same(k.parcels.flying, flying, "bytes of pieces on their way")
	same(k.parcels.left, left, "bytes of frames in pieces")
	if k.link.turn != 0 {
		same(max(k.link.turn, k.link.Tracks()-1), k.link.Tracks()-1, "the track of the last stand-in")
	}
	if k.conn != nil {
		same(btoi(k.conn.track == k), 1, "the connection is the track's")
	}
}

// balanced looks at what is known of keyed asks.
func (b *replies) balanced(same func(is, want int, what string, of ...any)) {
	keys, bytes := 0, 0
	for _, s := range b.senders {
		for _, r := range s.records {
			if keys++; r.done {
				bytes += r.size()
			}
		}
	}
	for r := b.oldest; r != nil; r = r.next {
		if b.senders[r.of.name] != r.of { // of a life before
			bytes += r.size()
		}
	}
	same(b.bytes, bytes, "bytes of replies")
	same(max(b.keys, keys), b.keys, "keys")
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
