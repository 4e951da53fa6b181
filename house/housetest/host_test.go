package housetest_test

import (
	"context"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// listen has a system serve lines, each of which is its own answer.
func listen(t *testing.T, sys *house.System, address string) {
	t.Helper()
	_, err := channel.Listen(context.Background(), channel.Config[[]byte, []byte]{
		Network: "tcp", Address: address, IdleTimeout: -1,
		Codec: func() channel.Codec[[]byte, []byte] { return lines{} },
	}, mirrorServes, core.Spawn(sys, func() *mirror { return &mirror{} }))
	if err != nil {
		t.Fatal(err)
	}
}

// TestRates: what a system waits for takes as long as its clock says.
func TestRates(t *testing.T) {
	for _, rate := range []float64{0, 0.5, 0.999983, 1, 1.7, 2} {
		sim := housetest.New(t, 1, house.Config{})
		other := sim.BesideOn(t, housetest.Machine{Rate: rate}, house.Config{AskTimeout: 3 * time.Hour})
		door := core.Spawn(other, func() *Door { return &Door{} })
		if rate == 0 {
			rate = 1
		}
		before, clock := sim.Now, other.Clock()
		if _, err := housetest.Ask(t, sim, doorPass.At(door), 20*time.Minute); err != nil {
			t.Fatal(err)
		}
		late := time.Duration(sim.Now-before) - time.Duration(float64(20*time.Minute)/rate)
		if late < 0 || late > 10*time.Millisecond {
			t.Errorf("rate %v: 20 minutes were over %v late", rate, late)
		}
		if got, want := float64(other.Clock()-clock), float64(sim.Now-before)*rate; got < want-2 || got > want+2 {
			t.Errorf("rate %v: the clock says %v, want %v", rate, got, want)
		}
	}
}

// TestPause: what is due in a pause is done behind it, once.
func TestPause(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{AskTimeout: time.Hour})
	other := sim.Beside(t, house.Config{AskTimeout: time.Hour})
	door := core.Spawn(other, func() *Door { return &Door{} })
	call := core.Begin(doorPass.At(door), time.Minute)
	sim.Run(time.Second)
	sim.Pause(other)
	sim.Run(10 * time.Minute)
	look := core.Begin(doorLook.At(door), struct{}{})
	sim.Run(time.Minute)
	if call.Ready() || look.Ready() {
		t.Error("a paused system has answered")
	}
	if _, err := housetest.Ask(t, sim, doorLook.At(core.Spawn(sim, func() *Door { return &Door{} })), struct{}{}); err != nil {
		t.Error(err)
	}
	sim.Resume(other)
	sim.Rest()
	for _, ready := range []bool{call.Ready(), look.Ready()} {
		if !ready {
			t.Error("no answer behind the pause")
		}
	}
	call.Get()
	look.Get()
}

// TestKill: who was connected to a system that is killed hears of its end, the next life has its
// address, and nothing that the dead one does at the end of the test is in the hash.
func TestKill(t *testing.T) {
	for _, unread := range []bool{false, true} {
		sim := housetest.New(t, 1, house.Config{})
		const addr = "10.0.0.1:80"
		start := func() *house.System {
			sys := sim.BesideOn(t, housetest.Machine{Name: "server"}, house.Config{})
			listen(t, sys, addr)
			return sys
		}
		sys := start()
		p := sim.Net.Dial(addr)
		sim.Run(time.Second)
		if unread {
			sim.Pause(sys)
			p.Write([]byte("hello\n"))
			sim.Run(time.Second)
		}
		sim.Kill(sys)
		sim.Run(time.Second)
		want := io.EOF
		if unread {
			want = syscall.ECONNRESET
		}
		if p.Err() != want {
			t.Errorf("unread %t: %v, want %v", unread, p.Err(), want)
		}
		refused := sim.Net.Dial(addr)
		sim.Run(time.Second)
		if refused.Err() != syscall.ECONNREFUSED {
			t.Errorf("a dead system has a connection: %v", refused.Err())
		}
		start()
		again := sim.Net.Dial(addr)
		sim.Run(time.Second)
		if !again.Connected() {
			t.Error("the next life doesn't listen")
		}
		hash := sim.Hash()
		if err := sys.Shutdown(t.Context()); err != nil || sim.Hash() != hash {
			t.Errorf("the hash is another one behind the shutdown of the dead: %v", err)
		}
	}
}

// TestWays: what is sent on a way that is cut arrives behind Heal, in order; the other way passes.
func TestWays(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{})
	server := sim.BesideOn(t, housetest.Machine{Name: "server"}, house.Config{})
	client := sim.BesideOn(t, housetest.Machine{Name: "client"}, house.Config{})
	listen(t, server, "10.0.0.1:80")
	dialled, err := channel.Dial(context.Background(), client, channel.ClientConfig[[]byte, []byte]{
		Network: "tcp", Address: "10.0.0.1:80", ConnectTimeout: -1, ReplyTimeout: -1,
		Codec: func() channel.ClientCodec[[]byte, []byte] { return &frame.Codec{Framing: &frame.Line{Max: 100}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := dialled.Port()
	took := func() time.Duration {
		before := sim.Now
		if _, err := housetest.Ask(t, sim, ask, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		return time.Duration(sim.Now - before)
	}
	if d := took(); d > time.Millisecond {
		t.Errorf("it took %v", d)
	}
	sim.Net.Lag("client", "server", time.Second)
	sim.Net.Lag("server", "client", 2*time.Second)
	if d := took(); d < 3*time.Second || d > 3100*time.Millisecond {
		t.Errorf("there and back took %v", d)
	}
	for _, way := range [][2]string{{"client", "server"}, {"server", "client"}} {
		sim.Net.Cut(way[0], way[1])
		call := core.Begin(ask, []byte("hello"))
		sim.Run(20 * time.Second)
		if call.Ready() {
			_, err := call.Get()
			t.Fatalf("over a way that is cut: %v", err)
		}
		sim.Net.Heal(way[0], way[1])
		sim.Run(4 * time.Second)
		if !call.Ready() {
			t.Fatal("nothing came behind Heal")
		}
		if _, err := call.Get(); err != nil {
			t.Error(err)
		}
	}
}

// TestPowerLost: of a system that was cut off and then killed nobody hears, until they send to it.
func TestPowerLost(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{})
	server := sim.BesideOn(t, housetest.Machine{Name: "server"}, house.Config{})
	listen(t, server, "10.0.0.1:80")
	p := sim.Net.Dial("10.0.0.1:80") // from a machine without a name
	sim.Run(time.Second)
	sim.Net.Cut("server", "")
	p.Write([]byte("hello\n"))
	sim.Run(time.Second)
	sim.Kill(server)
	sim.Run(time.Minute)
	sim.Net.Heal("server", "")
	sim.Run(time.Minute)
	if got := p.Read(100); len(got) > 0 || p.Err() != nil {
		t.Errorf("it read %q, then %v", got, p.Err())
	}
	p.Write([]byte("hello\n"))
	sim.Run(time.Second)
	if p.Err() != syscall.ECONNRESET {
		t.Errorf("it is %v", p.Err())
	}
}
