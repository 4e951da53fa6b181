package cluster

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestWhatCannotBeSent: addresses of third nodes and of other systems, ports that aren't of one
// actor and a method.
func TestWhatCannotBeSent(t *testing.T) {
	c := newCalm(t)
	_, far := c.host()
	third := c.sim.Beside(t, house.Config{Logger: slog.New(slog.DiscardHandler)})
	other, err := Start(t.Context(), third, Config{Name: "third", Listen: "127.0.0.1:7401", Plaintext: true, Incarnation: 1,
		Peers: map[string]string{"there": c.there.Addr()}})
	require.NoError(t, err)
	again, err := housetest.Ask(t, c.sim, other.Finder(), Where{"there", "/user/host"})
	require.NoError(t, err)
	at := core.Spawn(third, func() *caller { return &caller{} })
	_, err = housetest.Ask(t, c.sim, keep.At(again), contactsOf(1, at))
	require.NoError(t, err)

	_, err = housetest.Ask(t, c.sim, give.At(far), struct{}{})
	require.ErrorIs(t, err, ErrThirdNode)
	_, err = housetest.Ask(t, c.sim, keep.At(far), contacts{Any: at.Any()})
	require.ErrorIs(t, err, core.ErrOtherSystem)
	near := core.Spawn(c.sim, func() *caller { return &caller{} })
	for _, p := range []core.Port[int, int]{
		callAsk.At(near).Through(func(n int) (int, error) { return n, nil }),
		core.Handle((*caller).twice).At(near),
		callAsk.RoundRobin(&core.Group[caller]{}),
	} {
		_, err = housetest.Ask(t, c.sim, keep.At(far), contacts{Asked: p})
		require.ErrorIs(t, err, ErrNoMethod)
	}
	mixed := contactsOf(1, near)
	mixed.Any = at.Any() // before others that can
	_, err = housetest.Ask(t, c.sim, keep.At(far), mixed)
	require.ErrorIs(t, err, core.ErrOtherSystem)
	_, err = housetest.Ask(t, c.sim, keep.At(far), contacts{Asked: AtLeastOnce(c.here, twiceOf, Where{"there", "/user/caller"})})
	require.Equal(t, ErrNoMethod, err)
	require.NoError(t, core.Notice(notify.At(far), core.HandleNotice((*caller).hear).At(near)))
	c.sim.Run(time.Second)
	require.Equal(t, core.LostRefused, c.sim.DeadLetters()[0].Reason)
}

// TestNamesOfAnotherType: an address or a port of another type than the field's is an error that
// names the field.
func TestNamesOfAnotherType(t *testing.T) {
	c := newCalm(t)
	home := c.find(c.here, "there")
	from, to := c.here.self.links["there"].tracks[0], c.there.self.links["here"].tracks[0]
	at := core.Spawn(c.sim, func() *caller { return &caller{} })
	is := func(err error, says string) {
		t.Helper()
		require.ErrorContains(t, err, "].To: "+says)
	}
	is(crosses[struct{ To core.AnyAddress }, core.Address[host]](t, from, to, struct{ To core.AnyAddress }{at.Any()}), "an actor")
	is(crosses[struct{ To core.Port[int, int] }, core.NoticePort[int]](t, from, to, struct{ To core.Port[int, int] }{callAsk.At(at)}), "an actor")
	is(crosses[struct{ To core.Port[int, int] }, core.Port[int, string]](t, from, to, struct{ To core.Port[int, int] }{callAsk.At(at)}), "an actor")
	require.NoError(t, crosses[struct{ To core.AnyAddress }, core.Address[caller]](t, from, to, struct{ To core.AnyAddress }{at.Any()}))
	// at its own node
	is(crosses[struct{ To core.AnyAddress }, core.Address[host]](t, from, to, struct{ To core.AnyAddress }{home}), "an actor")
	require.NoError(t, crosses[struct{ To core.AnyAddress }, core.Address[counter]](t, from, to, struct{ To core.AnyAddress }{home}))
}

// card is what refers to somebody.
type card[R any] struct{ To R }

// crosses has a message read as a card of another type.
func crosses[From, R any](t *testing.T, from, to *track, v From) error {
	t.Cleanup(to.link.settleRead) // as receive does behind what it reads
	t.Helper()
	w, err := wire.For[From]()
	require.NoError(t, err)
	of, err := wire.For[card[R]]()
	require.NoError(t, err)
	d, err := of.Translate(w.AppendSchema(nil))
	require.NoError(t, err)
	n := names{track: from}
	text := wire.AppendBy(w, &n, nil, &v)
	require.NoError(t, n.err)
	var r wire.Reader
	r.Reset(text)
	r.SetNames(&names{track: to})
	var got card[R]
	return wire.Read(d, &r, &got)
}

type (
	silent struct{}
	mute   struct{}
)

var (
	_ = core.NewNoticeMethod[core.Address[silent]]("test.about.silent")
	_ = core.NewNoticeMethod[core.Address[mute]]("test.about.mute")
)

// TestNamesOfTheSilent: messages are about actors of types that handle no method.
func TestNamesOfTheSilent(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	from, to := c.here.self.links["there"].tracks[0], c.there.self.links["here"].tracks[0]
	one := struct{ To core.Address[silent] }{core.Spawn(c.sim, func() *silent { return &silent{} })}
	two := struct{ To core.Address[mute] }{core.Spawn(c.sim, func() *mute { return &mute{} })}
	require.NoError(t, crosses[struct{ To core.Address[silent] }, core.Address[silent]](t, from, to, one))
	require.NoError(t, crosses[struct{ To core.Address[mute] }, core.Address[mute]](t, from, to, two))
}

// reads reads what refers to somebody, as n has it.
func reads[R any](t *testing.T, n names, text []byte) (got R, err error) {
	t.Helper()
	codec, err := wire.For[R]()
	require.NoError(t, err)
	var r wire.Reader
	r.Reset(text)
	r.SetNames(&n)
	err = wire.Read(codec, &r, &got)
	return got, err
}

// TestNamesOfTheForgotten: an address that comes home when its actor isn't known any more is of the
// type of its field, and the same for all of them.
func TestNamesOfTheForgotten(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	var got [2]core.Address[caller]
	for i := range got {
		var err error
		got[i], err = reads[core.Address[caller]](t, names{track: c.track()}, wire.AppendUvarint([]byte{theirs}, uint64(1000+i)))
		require.NoError(t, err)
		require.True(t, got[i].House().Gone())
	}
	require.True(t, got[0] == got[1])
}

// TestPortsOfNoMethod: no method has the number, at the end that has written it.
func TestPortsOfNoMethod(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	for mine, most := range map[bool]int{false: len(k.theirs), true: len(k.methods.all)} {
		require.NotZero(t, most)
		for _, number := range []int{0, most + 1} {
			text := append(wire.AppendUvarint(wire.AppendUvarint([]byte{ours}, uint64(number)), 1000), "a.type"...)
			_, err := reads[core.Port[int, int]](t, names{track: k, mine: mine}, text)
			require.ErrorIs(t, err, core.ErrNoHandler)
		}
	}
}

// TestNamesOfStrangers: whatever a node says of actors makes the answer a FAIL, and nobody is
// reached that it wasn't told of.
func TestNamesOfStrangers(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	h := &host{}
	at, err := core.SpawnWith(there.sys, func() *host { return h }, core.Props{})
	require.NoError(t, err)
	secret := core.Spawn(there.sys, func() *caller { return &caller{} })
	there.node.look(t, func(of *hub) { of.export(at.House()) })
	m := there.node.self.methods.byName["test.host.self"]
	s := meets(t, there.node, "here", frame.Hello{Session: 1})
	_, err = s.hello()
	require.NoError(t, err)
	s.sends((&frame.Method{Number: 1, Name: []byte(m.Name), Request: m.request.AppendSchema(nil), Reply: m.reply.AppendSchema(nil)}).Append(nil),
		(&frame.Ref{Number: 1, Serial: at.House().Serial()}).Append(nil))
	varint := func(whose byte, serial uint64, more string) []byte {
		return append(wire.AppendUvarint([]byte{whose}, serial), more...)
	}
	for i, c := range []struct {
		text []byte
		ok   bool
	}{
		{nil, true},
		{varint(theirs, at.House().Serial(), ""), true},
		{varint(theirs, secret.House().Serial(), ""), true}, // as one that has stopped
		{varint(theirs, 1<<40, ""), true},
		{varint(ours, 1<<63, "nobody's.type"), true},
		{varint(ours, 1<<63, "another.type"), true},
		{varint(ours, 5, ""), true},
		{[]byte{gone}, true},
		{varint(gone, 5, "x"), true},
		{varint(ours, 0, "x"), false},
		{varint(theirs, 0, ""), false},
		{varint(theirs, at.House().Serial(), "x"), false},
		{varint(0, 5, ""), false},
		{varint(9, 5, ""), false},
		{[]byte{ours}, false},
		{[]byte{theirs}, false},
		{[]byte{ours, 0x80}, false},
	} {
		s.sends((&frame.Ask{Slot: 0, To: 1, Method: 1, Message: c.text}).Append(nil))
		f := s.next(frame.KindReply, frame.KindFail)
		require.Equal(t, c.ok, f.Kind == frame.KindReply, "%d", i)
	}
	there.node.look(t, func(of *hub) {
		require.Len(t, of.links["here"].tracks[0].standIns, 3)
		require.NotContains(t, of.served.actors, secret.House().Serial())
	})
}

// next returns the next frame of the kinds, and passes over others.
func (s *stranger) next(kinds ...frame.Kind) frame.Raw {
	for {
		f, n, err := frame.Next(s.in)
		require.NoError(s.t, err)
		if n == 0 {
			require.NoError(s.t, s.more())
			continue
		}
		s.in = s.in[n:]
		for _, k := range kinds {
			if f.Kind == k {
				return f
			}
		}
	}
}

// TestTooManyStandIns: a message that tells of more actors than a session may know is an error.
func TestTooManyStandIns(t *testing.T) {
	c := newCalmOf(t, 3, 3)
	c.find(c.here, "there")
	c.sim.Run(time.Second)
	l := c.there.self.links["here"]
	for _, k := range l.tracks {
		for range 100 {
			k.unused = append(k.unused, unused{0, ^uint64(0)})
		}
		k.standIns = append(k.standIns, make([]*standIn, standInsMax/3+1+100-len(k.standIns))...)
	}
	l.tracks[0].unused = append(l.tracks[0].unused, unused{0, ^uint64(0)})
	require.Equal(t, standInsMax, l.known())
	t.Cleanup(l.settleRead) // as receive does behind what it reads
	k := l.tracks[1]        // of the next one
	_, err := k.link.know(&k.names, 5, nil)
	require.ErrorIs(t, err, core.ErrOverloaded)
	for _, k := range l.tracks {
		k.standIns, k.unused = k.standIns[:1], nil
	}

	// Nor can it be told that they have stopped before it has declared them.
	_, err = k.link.know(&k.names, 5, nil)
	require.NoError(t, err)
	require.ErrorIs(t, k.gone(&frame.Gone{To: 1}), errRef)
	k.settle()
	require.NoError(t, k.gone(&frame.Gone{To: 1}))
}

// FuzzNames reads any bytes as contacts: what can be read can be written, and no more actors are
// known by it than it has bytes.
func FuzzNames(f *testing.F) {
	c := newCalm(f)
	codec, err := wire.For[contacts]()
	require.NoError(f, err)
	at := core.Spawn(c.sim, func() *caller { return &caller{} })
	c.find(c.here, "there")
	from, to := c.here.self.links["there"].tracks[0], c.there.self.links["here"].tracks[0]
	f.Cleanup(to.link.settleRead) // as receive does behind what it reads
	for _, v := range []contacts{{}, contactsOf(1, at), {Any: c.find(c.here, "there")}} {
		n := names{track: from}
		f.Add(wire.AppendBy(codec, &n, nil, &v))
		require.NoError(f, n.err)
	}
	for whose := range byte(5) {
		for size := range 4 {
			f.Add(append([]byte{0, 0, 0, 0, 0, 0, 0, 0, byte(size), whose, 2, 5, 9}, fmt.Sprint(size)...))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := len(to.standIns)
		var v contacts
		var r wire.Reader
		n := names{track: to}
		r.Reset(in)
		r.SetNames(&n)
		err := wire.Read(codec, &r, &v)
		if more := len(to.standIns) - before; more > len(in)/3 {
			t.Fatalf("%d actors of %d bytes", more, len(in))
		}
		if err == nil {
			if wire.AppendBy(codec, &n, nil, &v); n.err != nil {
				t.Fatalf("%v: %+v", n.err, v)
			}
		}
	})
}

// TestSessionThatIsOver: who keeps an address of it keeps one stand-in, not all that it knew.
func TestSessionThatIsOver(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	k := c.here.self.links["there"].tracks[0]
	k.link.giveUp(ErrUnreachable)
	require.Nil(t, k.standIns)
	require.Nil(t, k.link.bySerial)
	require.Nil(t, k.refs)
	require.ErrorIs(t, core.Notice(tells.At(far), item{}), ErrUnreachable)
}

// TestStandInsTakeRoom: what a message has made known counts beside its bytes, while it waits.
func TestStandInsTakeRoom(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.there.self.links["here"].tracks[0]
	t.Cleanup(k.link.settleRead) // as receive does behind what it reads
	for serial := range uint64(3) {
		_, err := k.link.know(&k.names, 100+serial, nil)
		require.NoError(t, err)
	}
	require.Equal(t, 10+3*standInSize, k.sizeOf(make([]byte, 10)))
	require.Equal(t, 10, k.sizeOf(make([]byte, 10)))
}

// TestPortsOfLaterMethods: a port by a method that was made when the node had begun can't be sent.
func TestPortsOfLaterMethods(t *testing.T) {
	c := newCalm(t)
	_, far := c.host()
	at := core.Spawn(c.sim, func() *caller { return &caller{} })
	delete(c.here.self.methods.byName, "test.caller.twice")
	_, err := housetest.Ask(t, c.sim, keep.At(far), contacts{Asked: callAsk.At(at)})
	require.Equal(t, ErrNoMethod, err)
	_, err = housetest.Ask(t, c.sim, AtLeastOnce(c.here, twiceOf, Where{"there", "/user/host"}), 1)
	require.Equal(t, core.ErrNoHandler, err)
}

// TestWhatCannotBeSentAgain: an ask by AtLeastOnce that can't be written isn't sent.
func TestWhatCannotBeSentAgain(t *testing.T) {
	c := newCalm(t)
	h, _ := c.host()
	third := c.sim.Beside(t, house.Config{Logger: slog.New(slog.DiscardHandler)})
	at := core.Spawn(third, func() *caller { return &caller{} })
	port := AtLeastOnce(c.here, keep, Where{"there", "/user/host"})
	_, err := housetest.Ask(t, c.sim, port, contacts{N: 7, Any: at.Any()})
	require.Equal(t, core.ErrOtherSystem, err)
	require.Zero(t, h.last.N)
	_, err = housetest.Ask(t, c.sim, port, contacts{N: 7})
	require.NoError(t, err)
}

// TestActorsThatAreKnown aren't counted again with each message that tells of them, and may be told
// of where no further one may.
func TestActorsThatAreKnown(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	t.Cleanup(k.link.settleRead) // as receive does behind what it reads
	one, err := k.link.know(&k.names, 5, nil)
	require.NoError(t, err)
	before := k.names.made
	k.standIns = append(k.standIns, make([]*standIn, standInsMax)...)
	two, err := k.link.know(&k.names, 5, nil)
	k.standIns = k.standIns[:len(k.standIns)-standInsMax]
	require.NoError(t, err)
	require.True(t, one == two)
	require.Equal(t, before, k.names.made)
}

// TestNamesThatEndEarly, or late, are errors.
func TestNamesThatEndEarly(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	for _, text := range [][]byte{{ours}, {theirs}, {ours, 0x80}, {theirs, 5, 5}, {0, 5}, {9, 5}, {theirs, 0}, {ours, 0, 'x'}} {
		_, err := reads[core.AnyAddress](t, names{track: c.track()}, text)
		require.Error(t, err, "%d", text)
		require.NotErrorIs(t, err, errNameType, "%d", text)
	}
}
