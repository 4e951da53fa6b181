package channel_test

import (
	"io"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/netio"
)

// inn has listeners of its own, and guests, whom it greets. To a line it answers with its name;
// "later" after a while, "end" as the last, and "next" before it speaks another protocol, which is
// the same.
type inn struct {
	name     string
	hands    *channel.Handler[inn, request, reply]
	at       string // opened at each start; "": nothing is
	fails    bool   // the start, once it is opened
	bound    core.Future[channel.Listener]
	doors    []channel.Listener
	guests   []channel.Peer[reply]
	came     int
	left     int
	settings config
	next     *channel.Protocol[inn, request, reply]
}

type (
	innOpen struct {
		core.AskStack[string, channel.Listener]
		bound core.Future[channel.Listener]
	}
	innClose struct {
		core.AskStack[channel.Listener, string]
		bound core.Future[channel.Listener]
	}
	innLine struct {
		core.ChannelStack[request, reply]
		tick core.Future[core.Tick]
	}
	innLook struct {
		core.AskStack[struct{}, [2]int]
	}
	innEnd struct {
		core.NoticeStack[struct{}]
	}
)

var (
	innOpens  = core.Handle((*inn).open)
	innCloses = core.Handle((*inn).close)
	innLooks  = core.Handle((*inn).look)
	innEnds   = core.HandleNotice((*inn).end)
	innServes = channel.Handle((*inn).line).
			WithOpened(core.HandleNotice((*inn).enter)).
			WithClosed(core.HandleNotice((*inn).leave))
)

func (i *inn) PreStart(s *core.HookStack) core.Yield {
	if i.at == "" {
		return s.Return()
	}
	i.settings.Address = i.at
	channel.Bind(s, &i.bound, i.settings, innServes)
	return core.Suspend(s, (*inn).started)
}

func (i *inn) started(s *core.HookStack) core.Yield {
	door, err := i.bound.Get()
	if err == nil && i.fails {
		err = errMark
	}
	if err != nil {
		return s.Throw(err)
	}
	i.doors = append(i.doors, door)
	return s.Return()
}

func (i *inn) open(s *innOpen) core.Yield {
	i.settings.Address = s.Req
	channel.Bind(s, &s.bound, i.settings, *i.hands)
	return core.Suspend(s, (*inn).opened)
}

func (i *inn) opened(s *innOpen) core.Yield {
	door, err := s.bound.Get()
	if err != nil {
		return s.Throw(err)
	}
	i.doors = append(i.doors, door)
	return s.Return(door)
}

// close closes a door, and opens another one there.
func (i *inn) close(s *innClose) core.Yield {
	s.Req.Close(s)
	s.Req.Close(s)
	i.settings.Address = s.Req.Addr()
	channel.Bind(s, &s.bound, i.settings, innServes)
	return core.Suspend(s, (*inn).reopened)
}

func (i *inn) reopened(s *innClose) core.Yield {
	door, err := s.bound.Get()
	if err != nil {
		return s.Throw(err)
	}
	door.Close(s)
	return s.Return(door.Addr())
}

func (i *inn) line(s *innLine) core.Yield {
	switch string(s.Req.line) {
	case "later":
		core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
		return core.Suspend(s, (*inn).late)
	case "next":
		channel.Upgrade(s, i.next)
	case "end":
		return s.ReturnLast(reply{[]byte("bye")})
	}
	return s.Return(reply{[]byte(i.name)})
}

func (i *inn) late(s *innLine) core.Yield { return s.Return(reply{[]byte("late")}) }

func (i *inn) enter(s *core.NoticeStack[channel.Opened[reply]]) core.Yield {
	i.came++
	i.guests = append(i.guests, s.Msg.Peer)
	s.Msg.Peer.Notice(s, reply{[]byte("welcome")})
	return s.Return()
}

func (i *inn) leave(s *core.NoticeStack[channel.Closed[reply]]) core.Yield {
	i.left++
	return s.Return()
}

// look returns how many guests have come, and how many have left.
func (i *inn) look(s *innLook) core.Yield { return s.Return([2]int{i.came, i.left}) }

// end fails.
func (i *inn) end(s *innEnd) core.Yield { return s.Throw(errMark) }

// innIn returns what makes an inn.
func innIn(network string, set func(*inn)) func() *inn {
	return func() *inn {
		i := &inn{name: "inn", hands: &innServes, settings: config{Network: network, Codec: newLineCodec}}
		if set != nil {
			set(i)
		}
		return i
	}
}

// TestBind: an actor accepts by two listeners, closes one, and binds its address again; what was
// accepted goes on, until the actor ends.
func TestBind(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		workers := w.system.Workers()
		at := core.Spawn(workers[len(workers)-1], innIn(p.network, nil))
		var doors [2]channel.Listener
		var clients [2]*client
		for i := range doors {
			var err error
			doors[i], err = core.Ask(w.ctx, innOpens.At(at), address(t, p.network))
			require.NoError(t, err)
			clients[i] = dialTo(t, p.network, doors[i].Addr())
			clients[i].send("a", "later", "b")
			clients[i].expect("welcome", "inn", "late", "inn")
		}
		require.False(t, doors[0] == doors[1])
		require.NotEqual(t, doors[0].Addr(), doors[1].Addr())
		again, err := core.Ask(w.ctx, innCloses.At(at), doors[0])
		require.NoError(t, err)
		require.Equal(t, doors[0].Addr(), again)
		for i := range doors {
			clients[i].send("c")
			clients[i].expect("inn")
			require.EqualValues(t, 1, doors[i].Stats().Conns)
			require.EqualValues(t, 1, doors[i].Stats().Accepted)
		}
		clients[0].send("end")
		clients[0].expect("bye")
		clients[0].expectEnd()
		w.await("the end", func() bool { return doors[0].Stats().Conns == 0 && channel.Gone(doors[0]) })
		require.False(t, channel.Gone(doors[1]))
		seen, err := core.Ask(w.ctx, innLooks.At(at), struct{}{})
		require.NoError(t, err)
		require.Equal(t, [2]int{2, 1}, seen)
		last := dialTo(t, p.network, doors[1].Addr())
		last.expect("welcome")
		require.NoError(t, at.StopWait(w.ctx))
		clients[1].expectEnd()
		last.expectEnd()
		for _, door := range doors {
			require.Zero(t, door.Stats().Conns)
			again, err := channel.Listen(w.ctx, config{Network: p.network, Address: door.Addr(), Codec: newLineCodec}, serve, w.fronts[0])
			require.NoError(t, err, "nobody listens there")
			require.NoError(t, again.Close(w.ctx))
		}
	})
}

// TestBindFails: the future is answered with the error, and nothing is left.
func TestBindFails(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		var i *inn
		at := core.Spawn(w.system.Workers()[0], innIn(p.network, func(made *inn) {
			if i == nil { // the panic has another one made, which is as it should be
				i = made
			}
		}))
		_, err := core.Ask(w.ctx, innOpens.At(at), w.server.Addr()) // from here on i is there
		require.ErrorContains(t, err, "address already in use")
		for _, c := range []struct {
			address, want string
			set           func()
		}{
			{address(t, p.network), "Config.Codec is missing", func() { i.settings.Codec = nil }},
			{address(t, p.network), "Config.ConnsMax is negative", func() { i.settings.ConnsMax = -1 }},
			{"localhost:0", "isn't written in numbers", func() { i.settings.Network = "tcp" }},
			{"127.0.0.1:0", "Bind with no Handler", func() { i.hands = &channel.Handler[inn, request, reply]{} }},
		} {
			was, hands := i.settings, i.hands
			c.set()
			_, err := core.Ask(w.ctx, innOpens.At(at), c.address)
			require.ErrorContains(t, err, c.want)
			i.settings, i.hands = was, hands
		}
		door, err := core.Ask(w.ctx, innOpens.At(at), address(t, p.network))
		require.NoError(t, err)
		dialTo(t, p.network, door.Addr()).expect("welcome")
		require.Equal(t, "", channel.Listener{}.Addr())
	})
}

// street is a simulation with an inn at a fixed address.
type street struct {
	*housetest.Sim
	t  *testing.T
	at core.Address[inn]
}

const innAddress = "127.0.0.1:7000"

func newStreet(t *testing.T, props core.Props, set func(*inn)) *street {
	s := &street{Sim: housetest.New(t, 1, house.Config{Workers: 2, AskTimeout: time.Hour, Logger: slog.New(slog.DiscardHandler)}), t: t}
	var err error
	s.at, err = core.SpawnWith(s.Workers()[1], innIn("tcp", func(i *inn) {
		i.at = innAddress
		if set != nil {
			set(i)
		}
	}), props)
	require.NoError(t, err)
	s.Run(time.Millisecond)
	return s
}

// visit dials, and reports whether the inn says welcome.
func (s *street) visit() (p *housetest.Peer, welcome bool) {
	p = s.Net.Dial(innAddress)
	s.Run(time.Millisecond)
	return p, string(p.Read(100)) == "welcome\n"
}

// TestBindAndLimits: they are those of a server.
func TestBindAndLimits(t *testing.T) {
	s := newStreet(t, core.Props{}, func(i *inn) {
		i.settings.ConnsMax, i.settings.IdleTimeout = 2, time.Minute
	})
	var all []*housetest.Peer
	for range 2 {
		p, welcome := s.visit()
		require.True(t, welcome)
		all = append(all, p)
	}
	p, welcome := s.visit()
	require.False(t, welcome)
	require.Equal(t, io.EOF, p.Err())
	p.Close()
	all[0].Close()
	s.Run(time.Second)
	p, welcome = s.visit()
	require.True(t, welcome)
	p.Write([]byte("!\n"))
	s.Run(time.Millisecond)
	require.Equal(t, "refused: "+errMark.Error()+"\n", string(p.Read(100)))
	p.Close()
	s.Run(2 * time.Minute)
	require.Equal(t, io.EOF, all[1].Err())
	all[1].Close()
	s.Run(time.Second)
	seen, err := housetest.Ask(t, s.Sim, innLooks.At(s.at), struct{}{})
	require.NoError(t, err)
	require.Equal(t, [2]int{3, 3}, seen)
	require.Equal(t, 1, s.Net.Open(), "the listener")
	require.NoError(t, s.at.StopWait(t.Context()))
	require.Zero(t, s.Net.Open())
}

// TestListenersEndWithARestart: before the next instance starts, which binds the same address;
// connections end at once, and the next instance hears nothing of them.
func TestListenersEndWithARestart(t *testing.T) {
	for name, end := range map[string]func(*street){
		"by a Throw":   func(s *street) { core.Notice(innEnds.At(s.at), struct{}{}) },
		"from outside": func(s *street) { s.at.Restart(errMark) },
	} {
		s := newStreet(t, core.Props{}, nil)
		for range 3 {
			p, welcome := s.visit()
			require.True(t, welcome, name)
			late := s.Net.Dial(innAddress) // accepted in the turn of the end, perhaps
			end(s)
			s.Run(time.Millisecond)
			require.Error(t, p.Err(), name)
			p.Close()
			late.Close()
			s.Run(time.Millisecond)
		}
		p, welcome := s.visit()
		require.True(t, welcome, name)
		seen, err := housetest.Ask(t, s.Sim, innLooks.At(s.at), struct{}{})
		require.NoError(t, err)
		require.Equal(t, 1, seen[0]-seen[1], name)
		require.NoError(t, s.at.StopWait(t.Context()))
		s.Run(time.Millisecond)
		require.Error(t, p.Err(), name)
		p.Close()
		s.Run(time.Minute)
		require.Zero(t, s.Net.Open(), name)
	}
}

// TestListenersEndWithAHold: which lasts for a second.
func TestListenersEndWithAHold(t *testing.T) {
	s := newStreet(t, core.Props{}, nil)
	var late []*housetest.Peer
	for range 6 {
		_, welcome := s.visit()
		require.True(t, welcome)
		core.Notice(innEnds.At(s.at), struct{}{})
		for range 3 { // some are accepted before the end
			late = append(late, s.Net.Dial(innAddress))
			s.Turn()
		}
		s.Run(time.Millisecond)
	}
	refused, _ := s.visit()
	require.Equal(t, syscall.ECONNREFUSED, refused.Err())
	for _, p := range late {
		p.Close()
	}
	require.Zero(t, s.Net.Open())
	s.Run(2 * time.Second)
	_, welcome := s.visit()
	require.True(t, welcome)
	seen, err := housetest.Ask(t, s.Sim, innLooks.At(s.at), struct{}{})
	require.NoError(t, err)
	require.Equal(t, [2]int{1, 0}, seen, "it hears nothing of connections of the one before")
}

// TestConnectionsThatBeginInAHold: one whose first turn comes when its actor has ended, and the
// next instance isn't there, ends too.
func TestConnectionsThatBeginInAHold(t *testing.T) {
	s := newStreet(t, core.Props{}, nil)
	for range 5 {
		core.Notice(innEnds.At(s.at), struct{}{})
		s.Run(time.Millisecond)
	}
	s.at.Pause()
	core.Notice(innEnds.At(s.at), struct{}{})
	p, _ := s.visit()
	require.True(t, p.Connected())
	s.at.Continue()
	s.Run(time.Millisecond)
	require.Error(t, p.Err())
	p.Close()
	require.Zero(t, s.Net.Open())
	s.Run(time.Minute)
	seen, err := housetest.Ask(t, s.Sim, innLooks.At(s.at), struct{}{})
	require.NoError(t, err)
	require.Zero(t, seen)
}

// TestListenersEndWithAStart: one that fails behind Bind leaves no listener in the way of the next
// start, nor while it is waited for.
func TestListenersEndWithAStart(t *testing.T) {
	starts := 0
	s := newStreet(t, core.Props{OnFailure: &core.Strategy{Backoff: time.Second, Decide: func(error) core.Directive { return core.Restart }}}, func(i *inn) {
		starts++
		i.fails = starts < 4
	})
	refused := s.Net.Dial(innAddress)
	s.Run(time.Millisecond)
	require.Equal(t, syscall.ECONNREFUSED, refused.Err())
	require.Zero(t, s.Net.Open())
	s.Run(time.Minute)
	require.Equal(t, 4, starts)
	_, welcome := s.visit()
	require.True(t, welcome)
}

// TestUpgradeOfAnActorsOwn: what a connection becomes ends with the actor's instance, too.
func TestUpgradeOfAnActorsOwn(t *testing.T) {
	next, err := channel.NewProtocol(config{Codec: newLineCodec}, innServes)
	require.NoError(t, err)
	s := newStreet(t, core.Props{}, func(i *inn) { i.next = next })
	p, _ := s.visit()
	p.Write([]byte("next\n"))
	s.Run(time.Millisecond)
	p.Write([]byte("x\n"))
	s.Run(time.Millisecond)
	require.Equal(t, "inn\nwelcome\ninn\n", string(p.Read(100)))
	s.at.Restart(errMark)
	s.Run(time.Millisecond)
	require.Equal(t, io.EOF, p.Err())
	p.Close()
	_, welcome := s.visit()
	require.True(t, welcome)
}

// TestBindWhilePaused: an actor that begins nothing accepts, and its worker rests.
func TestBindWhilePaused(t *testing.T) {
	s := newStreet(t, core.Props{}, nil)
	s.at.Pause()
	s.Run(time.Millisecond)
	p, welcome := s.visit()
	require.True(t, p.Connected())
	require.False(t, welcome)
	s.Rest()
	s.at.Continue()
	s.Run(time.Millisecond)
	require.Equal(t, "welcome\n", string(p.Read(100)))
}

// TestDrainDoesNotWaitForConnections: of the actor's own; but for their requests, whose results
// arrive.
func TestDrainDoesNotWaitForConnections(t *testing.T) {
	s := newStreet(t, core.Props{}, nil)
	silent, _ := s.visit()
	asks, _ := s.visit()
	asks.Write([]byte("later\n"))
	s.Run(time.Millisecond)
	s.at.Drain()
	s.Run(time.Millisecond)
	require.False(t, s.at.House().Gone())
	require.NoError(t, silent.Err())
	s.Run(20 * time.Millisecond)
	require.True(t, s.at.House().Gone())
	require.Equal(t, io.EOF, silent.Err())
	require.Equal(t, "late\n", string(asks.Read(100)))
	require.Equal(t, io.EOF, asks.Err())
	require.Zero(t, s.Net.Open())
}

// TestListenersComeAndGo, with threads: actors with listeners come, are restarted and go while
// clients come.
func TestListenersComeAndGo(t *testing.T) {
	if !netio.CanShare {
		t.Skip("ports are free again only later")
	}
	w := openWorld(t, place{network: "tcp", workers: 2}, nil)
	at := core.Spawn(w.system, innIn("tcp", nil))
	for i := range 200 {
		door, err := core.Ask(w.ctx, innOpens.At(at), "127.0.0.1:0")
		require.NoError(t, err)
		c := dialTo(t, "tcp", door.Addr())
		c.expect("welcome")
		switch i % 4 {
		case 0:
			at.Restart(errMark)
		case 1:
			require.NoError(t, at.StopWait(w.ctx))
			at = core.Spawn(w.system, innIn("tcp", nil))
		case 2:
			at.Drain()
			at = core.Spawn(w.system, innIn("tcp", nil))
		case 3:
			c.send("end")
			c.expect("bye")
			c.expectEnd()
			continue
		}
		_, err = io.ReadAll(c.r)
		require.NoError(t, err)
		c.Close()
	}
}
