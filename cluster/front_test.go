package cluster

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// digits is a codec of numbers, each in many bytes.
type digits struct{}

// digitsSize is how many bytes a number has.
const digitsSize = 1000

func (digits) Decode(in []byte, req *int) (n int, err error) {
	if len(in) < digitsSize {
		return 0, nil
	}
	*req = int(binary.BigEndian.Uint64(in))
	return digitsSize, nil
}

func (digits) Encode(out []byte, rep *int, err error) []byte {
	if err != nil {
		return append(out, err.Error()...)
	}
	return binary.BigEndian.AppendUint64(out, uint64(*rep))
}

func (digits) Size(*int, error) int                { return 8 }
func (digits) Refuse(out []byte, err error) []byte { return append(out, err.Error()...) }
func (digits) Need() int                           { return digitsSize }

// front answers clients by what an actor of another node says.
type front struct{ far core.AnyAddress }

type frontStep struct {
	core.ChannelStack[int, int]
	sum core.Future[addRep]
}

func (f *front) serve(s *frontStep) core.Yield {
	add.At(f.far).Ask(s, &s.sum, addReq{s.Req})
	return core.Suspend(s, (*front).served)
}

func (f *front) served(s *frontStep) core.Yield {
	rep, err := s.sum.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(rep.Sum)
}

var frontServes = channel.Handle((*front).serve)

// sloth takes its time for each ask, one after the other.
type sloth struct{ takes time.Duration }

func (l *sloth) add(s *addStep) core.Yield {
	core.Timer.Ask(s, &s.tick, l.takes)
	return core.Suspend(s, (*sloth).added)
}

func (l *sloth) added(s *addStep) core.Yield { return s.Return(addRep{2 * s.Req.N}) }

var _ = core.Handle((*sloth).add).As(add)

// TestG7SlowActorElsewhere: clients send far more than fits to a front that asks an actor of
// another node, which does nothing for a while, and is slow then. Connections aren't read
// meanwhile, no request is refused, and all are answered in the end, in order.
func TestG7SlowActorElsewhere(t *testing.T) {
	const clients, room = 20, 32 << 10
	requests := 500
	if housetest.Slow {
		requests = 200
	}
	c := newCalm(t)
	c.sim.Net.Faults.Window = room
	at, err := core.SpawnWith(c.there.system, func() *sloth { return &sloth{time.Millisecond} }, core.Props{Name: "sloth", Serial: true})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/sloth"})
	require.NoError(t, err)
	server, err := channel.Listen(t.Context(), channel.Config[int, int]{Network: "tcp", Address: "127.0.0.1:7000",
		Codec: func() channel.Codec[int, int] { return digits{} }}, frontServes, core.Spawn(c.sim, func() *front { return &front{far} }))
	require.NoError(t, err)
	var text []byte
	for i := range requests {
		text = append(binary.BigEndian.AppendUint64(text, uint64(i)), make([]byte, digitsSize-8)...)
	}
	type client struct {
		*housetest.Peer
		sent, got int // bytes, answers
	}
	var all [clients]client
	for i := range all {
		all[i].Peer = c.sim.Net.Dial(server.Addr())
	}
	// move has all clients send, and read what has come, for some time.
	move := func(d time.Duration) (sent, got int) {
		for end := c.sim.Now + int64(d); c.sim.Now < end; {
			c.sim.Run(5 * time.Millisecond)
			for i := range all {
				p := &all[i]
				p.sent += p.Write(text[p.sent:])
				for b := p.Read(1 << 20); len(b) > 0; b = b[8:] {
					require.GreaterOrEqual(t, len(b), 8, "client %d: %q", i, b)
					require.EqualValues(t, 2*p.got, binary.BigEndian.Uint64(b), "client %d: %q", i, b)
					p.got++
				}
			}
		}
		for i := range all {
			sent, got = sent+all[i].sent, got+all[i].got
		}
		return sent, got
	}
	at.Pause()
	taken, got := move(time.Second)
	require.Zero(t, got)
	again, _ := move(10 * time.Second)
	require.Equal(t, taken, again, "nothing more is read")
	require.Less(t, taken, clients*(2*room+(128<<10)), "of %d", clients*len(text))
	at.Continue()
	_, got = move(15 * time.Second)
	require.Equal(t, clients*requests, got)
}
