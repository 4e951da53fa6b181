package channel_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// neighbour always has something to do.
type neighbour struct{ steps int }

type oneStep = core.NoticeStack[struct{}]

func (b *neighbour) step(s *oneStep) core.Yield {
	b.steps++
	if err := neighbourStep.At(core.Self[neighbour](s)).Notice(s, struct{}{}); err != nil {
		return s.Throw(err)
	}
	return s.Return()
}

var neighbourStep core.NoticeHandler[neighbour, struct{}]

func init() { neighbourStep = core.HandleNotice((*neighbour).step) }

// modestCodec does a line "one" itself, and then has enough for the turn.
type modestCodec struct {
	lineCodec
	beside *neighbour
	steps  int // of it, at the last line
	lines  int
	atOnce int // lines behind which no other actor has run
}

func (c *modestCodec) Decode(in []byte, req *request) (int, error) {
	n, err := c.lineCodec.Decode(in, req)
	if n == 0 || err != nil || string(req.line) != "one" {
		return n, err
	}
	if c.lines++; c.lines > 1 && c.steps == c.beside.steps {
		c.atOnce++
	}
	c.steps = c.beside.steps
	return n, channel.ErrEnough
}

// TestEnough: once a codec has enough, other actors run before it gets what else has come, and get
// it it does, though nothing more comes.
func TestEnough(t *testing.T) {
	w := openWorld(t, lone, nil)
	worker := w.system.Workers()[0]
	codec := &modestCodec{beside: &neighbour{}}
	beside := core.Spawn(worker, func() *neighbour { return codec.beside })
	require.NoError(t, core.Notice(neighbourStep.At(beside), struct{}{}))
	at := core.Spawn(worker, innIn(lone.network, func(i *inn) {
		i.hands = &innHears
		i.settings.Codec = func() channel.Codec[request, reply] { return codec }
	}))
	door, err := core.Ask(w.ctx, innOpens.At(at), address(t, lone.network))
	require.NoError(t, err)
	c := dialTo(t, lone.network, door.Addr())
	c.send(append(slices.Repeat([]string{"one"}, 100), "last")...)
	c.expect("inn")
	require.NoError(t, at.StopWait(w.ctx))
	require.NoError(t, beside.StopWait(w.ctx))
	require.Equal(t, 100, codec.lines)
	require.Zero(t, codec.atOnce)
}

// TestEnoughWhileNothingIsTaken: it gets what else has come though the client takes no results.
func TestEnoughWhileNothingIsTaken(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	codec := &modestCodec{beside: &neighbour{}}
	at := core.Spawn(sim.Workers()[0], func() *front { return &front{} })
	server, err := channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:80",
		Codec: func() channel.Codec[request, reply] { return codec }}, serve, at)
	require.NoError(t, err)
	sim.Net.Faults.Window = 1000
	peer := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	sends := "big 3000\n" + strings.Repeat("one\n", 100)
	require.Equal(t, len(sends), peer.Write([]byte(sends)))
	sim.Run(time.Millisecond)
	require.Equal(t, 100, codec.lines)
	require.Len(t, peer.Read(3001), 1000, "the rest had no room")
	require.NoError(t, server.Close(t.Context()))
}
