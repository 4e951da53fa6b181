package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// pile notes how much of what a link has handed on waits for it.
type pile struct {
	sink
	hub  *hub
	most int
}

func (p *pile) tell(s *core.NoticeStack[eight]) core.Yield {
	p.most = max(p.most, int(p.hub.links["here"].tracks[0].got)-p.n)
	return p.sink.tell(s)
}

func (p *pile) count(s *core.AskStack[eight, eight]) core.Yield {
	return s.Return(eight{uint64(p.n), uint64(p.most)})
}

var (
	_ = core.HandleNotice((*pile).tell).As(drip)
	_ = core.Handle((*pile).count).As(level)
)

// TestFloodWaitsOutside: of a flood that an actor can keep up with, little waits in its mailbox,
// though all that comes would fit there. A link that handed on what has come, as it comes, would
// fill it.
func TestFloodWaitsOutside(t *testing.T) {
	const away, notices = 16, 1000 // a tap has so many rounds away
	wide := house.Config{MailboxMax: 1 << 14, TurnTime: -1, ShareAfter: -1}
	there := newPlaceIn(t, Config{Name: "there", Listen: "127.0.0.1:0"}, wide)
	p := &pile{hub: there.node.self}
	_, err := core.SpawnWith(there.sys.Workers()[p.hub.w.Index], func() *pile { return p }, core.Props{Name: "pile"})
	require.NoError(t, err)
	here := newPlaceIn(t, Config{Name: "here", Peers: map[string]string{"there": there.node.Addr()}, Mailbox: 1 << 14}, wide)
	far, err := here.node.Lookup(t.Context(), "there", "/user/pile")
	require.NoError(t, err)
	by := tapPour.At(core.Spawn(here.sys.Workers()[here.node.self.w.Index], func() *tap { return &tap{} }))
	pour(t, by, far, 100, notices)
	got, err := core.Ask(t.Context(), level.At(far), eight{}) // behind all of them
	require.NoError(t, err)
	require.EqualValues(t, 100*notices, got[0])
	t.Logf("%d of %d", got[1], away*notices)
	require.Less(t, got[1], uint64(8*share))
}
