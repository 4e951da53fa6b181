package cluster

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// caller is an actor that says to others where it is, and hears from them.
type caller struct{ heard []int }

func (c *caller) hear(s *core.NoticeStack[int]) core.Yield {
	c.heard = append(c.heard, s.Msg)
	return s.Return()
}

func (c *caller) twice(s *core.AskStack[int, int]) core.Yield { return s.Return(2 * s.Req) }

// contacts has all that refers to actors, in all places.
type contacts struct {
	N     int
	Any   core.AnyAddress
	Typed core.Address[caller]
	Told  core.NoticePort[int]
	Asked core.Port[int, int]
	All   []core.AnyAddress
	By    map[core.Address[caller]][2]core.NoticePort[int]
	Deep  struct{ Ports []core.Port[int, int] }
}

// contactsOf returns contacts with one actor everywhere.
func contactsOf(n int, at core.Address[caller]) contacts {
	c := contacts{N: n, Any: at.Any(), Typed: at, Told: hearIt.At(at.Any()), Asked: twiceOf.At(at.Any())}
	c.All = []core.AnyAddress{c.Any, {}, c.Any}
	c.By = map[core.Address[caller]][2]core.NoticePort[int]{at: {c.Told, {}}, {}: {}}
	c.Deep.Ports = []core.Port[int, int]{{}, c.Asked}
	return c
}

// requireSame requires that contacts are the same.
func requireSame(t *testing.T, want, got contacts) {
	t.Helper()
	require.True(t, want.Any == got.Any && want.Typed == got.Typed && want.Told == got.Told && want.Asked == got.Asked, "%+v", got)
	require.Len(t, got.All, 3)
	require.Len(t, got.By, 2)
	for i := range want.All {
		require.True(t, want.All[i] == got.All[i])
	}
	for k, v := range want.By {
		require.True(t, v == got.By[k])
	}
	for i := range want.Deep.Ports {
		require.True(t, want.Deep.Ports[i] == got.Deep.Ports[i])
	}
}

// host is an actor that callers meet: it tells whom it meets, and gives all back.
type host struct{ last contacts }

type meetStep struct {
	core.AskStack[contacts, contacts]
	sum core.Future[int]
}

func (h *host) meet(s *meetStep) core.Yield {
	h.last = s.Req
	s.Req.Told.Notice(s, s.Req.N)
	s.Req.Deep.Ports[1].Ask(s, &s.sum, s.Req.N)
	return core.Suspend(s, (*host).met)
}

func (h *host) met(s *meetStep) core.Yield {
	sum, err := s.sum.Get()
	if err != nil {
		return s.Throw(err)
	}
	s.Req.N = sum
	return s.Return(s.Req)
}

// keep keeps what it is sent, and gives it back.
func (h *host) keep(s *core.AskStack[contacts, contacts]) core.Yield {
	h.last = s.Req
	return s.Return(s.Req)
}

func (h *host) give(s *core.AskStack[struct{}, contacts]) core.Yield { return s.Return(h.last) }

// self returns the address that it was sent, and whether it is its own.
func (h *host) self(s *core.AskStack[core.AnyAddress, bool]) core.Yield {
	return s.Return(s.Req == core.Self[host](s).Any())
}

func (h *host) notify(s *core.NoticeStack[core.NoticePort[int]]) core.Yield {
	s.Msg.Notice(s, 7)
	return s.Return()
}

// long is a notice that is as long as its pad.
type long struct {
	Told core.NoticePort[int]
	Pad  []byte
}

func (h *host) long(s *core.NoticeStack[long]) core.Yield {
	s.Msg.Told.Notice(s, 7)
	return s.Return()
}

var (
	hearIt   = core.NewNoticeMethod[int]("test.caller.hear")
	twiceOf  = core.NewMethod[int, int]("test.caller.twice")
	meet     = core.NewMethod[contacts, contacts]("test.host.meet")
	keep     = core.NewMethod[contacts, contacts]("test.host.keep")
	give     = core.NewMethod[struct{}, contacts]("test.host.give")
	isSelf   = core.NewMethod[core.AnyAddress, bool]("test.host.self")
	notify   = core.NewNoticeMethod[core.NoticePort[int]]("test.host.notify")
	longOf   = core.NewNoticeMethod[long]("test.host.long")
	callHear = core.HandleNotice((*caller).hear).As(hearIt)
	callAsk  = core.Handle((*caller).twice).As(twiceOf)
	_        = core.HandleNotice((*host).long).As(longOf)
	_        = core.Handle((*host).meet).As(meet)
	_        = core.Handle((*host).keep).As(keep)
	_        = core.Handle((*host).give).As(give)
	_        = core.Handle((*host).self).As(isSelf)
	_        = core.HandleNotice((*host).notify).As(notify)
)

// host has a host at the other node of a calm, and its address here.
func (c *calm) host() (*host, core.AnyAddress) {
	h := &host{}
	_, err := core.SpawnWith(c.there.system, func() *host { return h }, core.Props{Name: "host"})
	require.NoError(c.t, err)
	far, err := housetest.Ask(c.t, c.sim, c.here.Finder(), Where{"there", "/user/host"})
	require.NoError(c.t, err)
	return h, far
}

// TestReplyTo: an actor sends its address with an ask. The other one tells it, asks it by a port in
// a slice, and gives all back: here it is what it was.
func TestReplyTo(t *testing.T) {
	c := newCalm(t)
	h, far := c.host()
	of := &caller{}
	at := core.Spawn(c.sim, func() *caller { return of })
	for n := range 3 {
		sent := contactsOf(n, at)
		got, err := housetest.Ask(t, c.sim, meet.At(far), sent)
		require.NoError(t, err)
		require.Equal(t, 2*n, got.N)
		requireSame(t, sent, got)
	}
	c.sim.Run(time.Second)
	require.Equal(t, []int{0, 1, 2}, of.heard)
	require.Len(t, c.there.self.links["here"].tracks[0].standIns, 2, "one for the hub, one for the caller")

	// The same from a port of the handler itself, and as all of a message.
	require.NoError(t, core.Notice(notify.At(far), callHear.At(at)))
	c.sim.Run(time.Second)
	require.Equal(t, []int{0, 1, 2, 7}, of.heard)
	require.Equal(t, "cluster.caller", h.last.Typed.House().Kind().String())
	require.NotNil(t, h.last.Typed.House().Remote())
	sum, err := housetest.Ask(t, c.sim, callAsk.At(h.last.Typed), 4)
	require.NoError(t, err)
	require.Equal(t, 8, sum)
}

// TestZeroAddresses cross as such.
func TestZeroAddresses(t *testing.T) {
	c := newCalm(t)
	_, far := c.host()
	got, err := housetest.Ask(t, c.sim, keep.At(far), contacts{N: 1})
	require.NoError(t, err)
	require.True(t, got.N == 1 && got.Any == core.AnyAddress{} && got.Typed == core.Address[caller]{})
	require.True(t, got.Told == core.NoticePort[int]{} && got.Asked == core.Port[int, int]{})
	is, err := housetest.Ask(t, c.sim, isSelf.At(far), core.AnyAddress{})
	require.NoError(t, err)
	require.False(t, is)
}

// TestAddressGoesHome: what stands in for an actor is that actor at its own node.
func TestAddressGoesHome(t *testing.T) {
	c := newCalm(t)
	_, far := c.host()
	is, err := housetest.Ask(t, c.sim, isSelf.At(far), far)
	require.NoError(t, err)
	require.True(t, is)
	is, err = housetest.Ask(t, c.sim, isSelf.At(far), c.find(c.here, "there"))
	require.NoError(t, err)
	require.False(t, is)
}

// TestStoppedActorsCross: their addresses are those of something that has stopped.
func TestStoppedActorsCross(t *testing.T) {
	c := newCalm(t)
	h, far := c.host()
	at := core.Spawn(c.sim, func() *caller { return &caller{} })
	at.Stop()
	c.sim.Run(time.Second)
	sent := contactsOf(1, at)
	got, err := housetest.Ask(t, c.sim, keep.At(far), sent)
	require.NoError(t, err)
	_, err = housetest.Ask(t, c.sim, h.last.Asked, 1)
	require.ErrorIs(t, err, core.ErrStopped)
	require.ErrorIs(t, core.Notice(h.last.Told, 1), core.ErrStopped)
	requireSame(t, sent, got)

	// One that stops while the other node has its address, and comes back behind its end here.
	at = core.Spawn(c.sim, func() *caller { return &caller{} })
	_, err = housetest.Ask(t, c.sim, keep.At(far), contactsOf(2, at))
	require.NoError(t, err)
	at.Stop()
	c.sim.Run(time.Second)
	_, err = housetest.Ask(t, c.sim, h.last.Asked, 1)
	require.ErrorIs(t, err, core.ErrStopped)
	c.sim.Run(time.Second)
	require.True(t, h.last.Typed.House().Gone())
	got, err = housetest.Ask(t, c.sim, give.At(far), struct{}{})
	require.NoError(t, err)
	_, err = housetest.Ask(t, c.sim, got.Asked, 1)
	require.ErrorIs(t, err, core.ErrStopped)
}

// TestPortsOfOtherPrograms: each program numbers the methods that it has. A port is by the method
// that its writer means.
func TestPortsOfOtherPrograms(t *testing.T) {
	c := newCalm(t)
	m := c.here.self.methods
	slices.Reverse(m.all)
	for i, of := range m.all {
		of.number = uint64(i + 1)
		require.NoError(t, of.compile())
	}
	_, far := c.host()
	sent := contactsOf(4, core.Spawn(c.sim, func() *caller { return &caller{} }))
	got, err := housetest.Ask(t, c.sim, meet.At(far), sent)
	require.NoError(t, err)
	require.Equal(t, 8, got.N)
	requireSame(t, sent, got)
}

// unmet is an actor whose address messages have, and that handles no contract.
type unmet struct{}

var _ = core.NewNoticeMethod[core.Address[unmet]]("test.unmet.meet")

// TestFirstCatalogue: a process's first one knows the types of addresses in messages, too.
func TestFirstCatalogue(t *testing.T) {
	kind := reflect.TypeFor[unmet]()
	addressed.Delete(kindName(kind))
	c, err := newCatalogue()
	require.NoError(t, err)
	require.Equal(t, kind, c.kindOf(kindName(kind)))
}

// TestBytesOfNames are those of docs/wire.md.
func TestBytesOfNames(t *testing.T) {
	c := newCalm(t)
	at := core.Spawn(c.sim, func() *caller { return &caller{} })
	far := c.find(c.here, "there")
	n := names{track: c.here.self.links["there"].tracks[0]}
	codec, err := wire.For[core.AnyAddress]()
	require.NoError(t, err)
	port, err := wire.For[core.NoticePort[int]]()
	require.NoError(t, err)
	require.Equal(t, "\x01\x15\x0ccore:address", string(codec.AppendSchema(nil)))
	require.Equal(t, "\x01\x15\x09core:port", string(port.AppendSchema(nil)))

	serial, number := byte(at.House().Serial()), byte(c.here.self.methods.byName["test.caller.hear"].number)
	house, _ := far.Any()
	const kind = "github.com/stackhouse-go/stackhouse/cluster.caller"
	a, p := at.Any(), callHear.At(at)
	require.Empty(t, wire.AppendBy(codec, &n, nil, &core.AnyAddress{}))
	require.Equal(t, string([]byte{1, serial})+kind, string(wire.AppendBy(codec, &n, nil, &a)))
	require.Equal(t, []byte{2, byte(house.Serial())}, wire.AppendBy(codec, &n, nil, &far))
	require.Equal(t, string([]byte{1, number, serial})+kind, string(wire.AppendBy(port, &n, nil, &p)))
	a = c.here.self.nobody(house.Kind())
	require.Equal(t, "\x03github.com/stackhouse-go/stackhouse/cluster.counter", string(wire.AppendBy(codec, &n, nil, &a)))
}

// TestStoppedComeHome: the address of an actor that has ended is sent to its node as it knows it.
func TestStoppedComeHome(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	h, _ := far.Any()
	h.Stop(c.here.self.w.Guests)
	c.sim.Run(time.Second)
	_, err := housetest.Ask(t, c.sim, add.At(far), addReq{1})
	require.ErrorIs(t, err, core.ErrStopped)
	require.True(t, h.Gone())
	whose, err := c.track().whose(h)
	require.NoError(t, err)
	require.Equal(t, byte(theirs), whose)
}
