package channel_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
)

// talkerCodec sends numbers, as many as there is room for, and the others once there is more.
type talkerCodec struct {
	lineCodec
	of     core.Endpoint[reply]
	said   int
	full   int // how often there was no room
	closed chan struct{}
}

const talkerSays = 100_000

func (c *talkerCodec) Opened(of core.Endpoint[reply]) {
	c.of = of
	c.talk()
}

func (c *talkerCodec) Room() { c.talk() }

func (c *talkerCodec) Closed() { close(c.closed) }

func (c *talkerCodec) talk() {
	for c.said < talkerSays {
		switch err := c.of.Push(reply{strconv.AppendInt(nil, int64(c.said), 10)}); err {
		case nil:
			c.said++
		case core.ErrMailboxFull:
			c.full++
			return
		default:
			panic(err)
		}
	}
}

var innHears = channel.Handle((*inn).line)

// TestSender: a codec sends of its own accord, hears of room and of the end, and has the last word.
func TestSender(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		codec := &talkerCodec{closed: make(chan struct{})}
		at := core.Spawn(w.system.Workers()[0], innIn(p.network, func(i *inn) {
			i.hands = &innHears
			i.settings.OutputMax = 10_000
			i.settings.Codec = func() channel.Codec[request, reply] { return codec }
		}))
		door, err := core.Ask(w.ctx, innOpens.At(at), address(t, p.network))
		require.NoError(t, err)
		c := dialTo(t, p.network, door.Addr())
		for i := range talkerSays {
			c.expect(strconv.Itoa(i))
		}
		c.send("a")
		c.expect("inn")
		require.NoError(t, at.StopWait(w.ctx))
		c.expect("refused: stackhouse: actor stopped")
		c.expectEnd()
		<-codec.closed
		require.NotZero(t, codec.full)
	})
}
