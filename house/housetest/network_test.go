package housetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/netio"
)

// lines is a codec of lines, both ways.
type lines struct{}

func (lines) Decode(in []byte, req *[]byte) (int, error) {
	end := bytes.IndexByte(in, '\n')
	if end < 0 {
		return 0, nil
	}
	*req = in[:end]
	return end + 1, nil
}

func (lines) Need() int                         { return 1 }
func (lines) Size(rep *[]byte, _ error) int     { return len(*rep) + 10 }
func (lines) Refuse(out []byte, _ error) []byte { return out }

func (lines) Encode(out []byte, rep *[]byte, err error) []byte {
	if err != nil {
		return append(out, "failed\n"...)
	}
	return append(append(out, *rep...), '\n')
}

type mirror struct{}

var mirrorServes = channel.Handle((*mirror).serve)

func (m *mirror) serve(s *core.ChannelStack[[]byte, []byte]) core.Yield { return s.Return(s.Req) }

func ExampleNetwork_Dial() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{})
	at := core.Spawn(sim, func() *mirror { return &mirror{} })
	server, err := channel.Listen(context.Background(), channel.Config[[]byte, []byte]{
		Network: "tcp", Address: "127.0.0.1:80",
		Codec: func() channel.Codec[[]byte, []byte] { return lines{} },
	}, mirrorServes, at)
	if err != nil {
		panic(err)
	}
	sim.Net.Faults = housetest.Faults{Delay: time.Millisecond, Pieces: 2}
	peer := sim.Net.Dial(server.Addr())
	sim.Run(time.Second)
	peer.Write([]byte("one\ntwo\nthr"))
	sim.Run(time.Second)
	fmt.Printf("%q\n", peer.Read(100))
	peer.End()
	sim.Run(time.Second)
	fmt.Println(peer.Err(), server.Stats().Conns)
	// Output:
	// "one\ntwo\n"
	// EOF 0
}

// A server that the test plays, for a client of the system: it answers one request, and breaks the
// connection at the next. Each worker would have a connection of its own.
func ExampleNetwork_Serve() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	door := sim.Net.Serve("10.0.0.7:70")
	client, err := channel.Dial(context.Background(), sim.System, channel.ClientConfig[[]byte, []byte]{
		Network: "tcp", Address: "10.0.0.7:70",
		Codec: func() channel.ClientCodec[[]byte, []byte] {
			return &frame.Codec{Framing: &frame.Line{Max: 100}}
		},
	})
	if err != nil {
		panic(err)
	}
	call := core.Begin(client.Port(), []byte("how")) // mostly the actor under test asks
	sim.Run(time.Second)
	peer := door.Accept()
	fmt.Printf("%q\n", peer.Read(100))
	peer.Write([]byte("so\r\n"))
	sim.Run(time.Second)
	call.GetInto(func(rep *[]byte) { fmt.Printf("%s\n", *rep) })

	call = core.Begin(client.Port(), []byte("why"))
	sim.Run(time.Second)
	fmt.Printf("%q\n", peer.Read(100))
	peer.Reset()
	sim.Run(time.Second)
	_, err = call.Get()
	fmt.Println(errors.Is(err, core.ErrLost))
	// Output:
	// "how\n"
	// so
	// "why\n"
	// true
}

// told is a handler that notes its events.
type told struct {
	ready netio.Ready
	n     int
}

func (t *told) Ready(r netio.Ready) {
	t.ready |= r
	t.n++
}

// wires is a poller in the network of a simulation, which nobody else uses.
type wires struct {
	*testing.T
	sim *housetest.Sim
	p   *netio.Poller
}

func newWires(t *testing.T) *wires {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	return &wires{t, sim, netio.OpenIn(sim.Net)}
}

// poll delivers what there is, after d.
func (w *wires) poll(d time.Duration) {
	w.sim.Now += int64(d)
	for range 3 { // what has come may have something come
		_, err := w.p.Poll()
		require.NoError(w, err)
	}
}

// add registers fd, and returns who is told of its events.
func (w *wires) add(fd int) *told {
	h := &told{}
	_, err := w.p.Add(fd, h)
	require.NoError(w, err)
	return h
}

// pair returns both ends of a connection.
func (w *wires) pair() (near, far int) {
	l, address, err := w.p.Listen("tcp", "127.0.0.1:0", netio.ListenOptions{})
	require.NoError(w, err)
	near, err = w.p.Connect("tcp", address)
	require.NoError(w, err)
	require.Equal(w, netio.ErrAgain, w.p.ConnectError(near))
	w.poll(0)
	require.NoError(w, w.p.ConnectError(near))
	far, err = w.p.Accept(l)
	require.NoError(w, err)
	require.NoError(w, w.p.CloseFD(l))
	require.Equal(w, w.p.LocalAddr(near), w.p.RemoteAddr(far))
	require.Equal(w, address, w.p.LocalAddr(far))
	return near, far
}

// TestConnectToNobody: a port at which nobody listens, one that is taken, and one that is closed.
func TestConnectToNobody(t *testing.T) {
	w := newWires(t)
	fd, err := w.p.Connect("tcp", "127.0.0.1:9")
	require.NoError(t, err)
	h := w.add(fd)
	w.poll(0)
	require.Equal(t, syscall.ECONNREFUSED, w.p.ConnectError(fd))
	require.NotZero(t, h.ready&netio.Writable)

	l, address, err := w.p.Listen("tcp", "127.0.0.1:80", netio.ListenOptions{})
	require.NoError(t, err)
	_, _, err = w.p.Listen("tcp", address, netio.ListenOptions{})
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.NoError(t, w.p.CloseFD(l))
	_, _, err = w.p.Listen("tcp", address, netio.ListenOptions{})
	require.NoError(t, err)
	require.Equal(t, syscall.EBADF, w.p.CloseFD(99))
}

// TestWindow: a write takes what there is room for; room that comes is told, once.
func TestWindow(t *testing.T) {
	w := newWires(t)
	w.sim.Net.Faults.Window = 10
	near, far := w.pair()
	h := w.add(near)
	w.poll(0)
	require.Equal(t, told{netio.Writable, 1}, *h)
	w.sim.Net.Faults.Delay = time.Millisecond
	n, err := w.p.Write(near, make([]byte, 12))
	require.NoError(t, err)
	require.Equal(t, 10, n)
	_, err = w.p.Write(near, make([]byte, 2))
	require.Equal(t, netio.ErrAgain, err)
	unsent, _ := w.p.Unsent(near)
	require.Equal(t, 10, unsent)
	w.sim.Net.Faults.Delay = 0
	w.poll(time.Second)
	unsent, _ = w.p.Unsent(near)
	require.Zero(t, unsent)
	require.Equal(t, 1, h.n)
	n, err = w.p.Read(far, make([]byte, 4))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	w.poll(0)
	w.poll(0)
	require.Equal(t, told{netio.Writable, 2}, *h)
	n, _ = w.p.Write(near, make([]byte, 12))
	require.Equal(t, 4, n)
}

// TestEnds: a side that has ended, and a connection that is closed with unread bytes.
func TestEnds(t *testing.T) {
	w := newWires(t)
	near, far := w.pair()
	h := w.add(far)
	w.p.Write(near, []byte("end"))
	require.NoError(t, w.p.Shutdown(near, true))
	_, err := w.p.Write(near, []byte("x"))
	require.Equal(t, syscall.EPIPE, err)
	w.poll(0)
	require.NotZero(t, h.ready&netio.Closed)
	b := make([]byte, 10)
	n, err := w.p.Read(far, b)
	require.NoError(t, err)
	require.Equal(t, "end", string(b[:n]))
	_, err = w.p.Read(far, b)
	require.Equal(t, io.EOF, err)
	_, err = w.p.Write(far, []byte("answer"))
	require.NoError(t, err)
	w.poll(0)
	require.NoError(t, w.p.CloseFD(near), "with unread bytes")
	w.poll(0)
	require.Equal(t, syscall.ECONNRESET, w.p.ConnectError(far))
	_, err = w.p.Write(far, []byte("more"))
	require.Equal(t, syscall.EPIPE, err)
	for _, free := range []int{near - 1, near} { // the listener's was the lowest
		fd, err := w.p.Connect("tcp", "127.0.0.1:9")
		require.NoError(t, err)
		require.Equal(t, free, fd, "a descriptor that is closed is the next one's")
	}
}

// TestBytesAgainstModel: whatever goes wrong, bytes come in their order, and none twice; without
// resets all come.
func TestBytesAgainstModel(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		w := newWires(t)
		near, far := w.pair()
		reader, writer := w.add(far), w.add(near)
		w.sim.Net.Faults = housetest.Draw(rng)
		resets := w.sim.Net.Faults.Resets > 0
		text := make([]byte, rng.IntN(3000))
		for i := range text {
			text[i] = byte(rng.IntN(256))
		}
		var got []byte
		for sent, rounds := 0, 0; len(got) < len(text); rounds++ {
			require.Less(t, rounds, 100_000, "seed %d: an event is missing: %+v", seed, w.sim.Net.Faults)
			w.poll(time.Duration(rng.IntN(1 << 20)))
			var err error
			for n := 0; writer.n > 0 && err == nil && sent < len(text); sent += n { // until it would block
				n, err = w.p.Write(near, text[sent:min(len(text), sent+1+rng.IntN(100))])
			}
			writer.n = 0
			if err != nil && err != netio.ErrAgain {
				require.True(t, resets, "seed %d: %v", seed, err)
				break
			}
			b := make([]byte, 1+rng.IntN(100))
			for n := len(b); reader.n > 0 && err != netio.ErrAgain && n == len(b); {
				if n, err = w.p.Read(far, b); err == nil {
					got = append(got, b[:n]...)
				}
			}
			reader.n = 0
			require.True(t, bytes.HasPrefix(text, got), "seed %d", seed)
		}
	}
}

// TestRunLeavesNothing: a second is enough for what takes microseconds, also if something comes for
// a worker that has just had its turn.
func TestRunLeavesNothing(t *testing.T) {
	for seed := range uint64(1000) {
		sim := housetest.New(t, seed, house.Config{Workers: 3})
		sim.Net.Faults.Delay = 10 * time.Microsecond
		fronts := core.Replicate(sim, func() *mirror { return &mirror{} })
		server, err := channel.Listen(t.Context(), channel.Config[[]byte, []byte]{
			Network: "tcp", Address: "127.0.0.1:80",
			Codec: func() channel.Codec[[]byte, []byte] { return lines{} },
		}, mirrorServes, fronts.All()...)
		require.NoError(t, err)
		p := sim.Net.Dial(server.Addr())
		sim.Run(time.Second)
		p.End()
		sim.Run(time.Second)
		require.Equal(t, io.EOF, p.Err(), "seed %d", seed)
		p.Close()
		require.NoError(t, server.Close(t.Context()))
	}
}

// TestBreak resets the connections to an address, and no other.
func TestBreak(t *testing.T) {
	w := newWires(t)
	near, _ := w.pair()
	other, _ := w.pair()
	w.sim.Net.Break(w.p.RemoteAddr(near))
	w.poll(0)
	_, err := w.p.Read(near, make([]byte, 1))
	require.Equal(t, syscall.ECONNRESET, err)
	_, err = w.p.Read(other, make([]byte, 1))
	require.Equal(t, netio.ErrAgain, err)
}
