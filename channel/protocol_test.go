package channel_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// redis answers ECHO through the keeper, as a server with a database behind does.
type redis struct{ keeper core.Port[hold, struct{}] }

type redisStack struct {
	core.ChannelStack[resp.Command, resp.Reply]
	held core.Future[struct{}]
}

var redisServe = channel.Handle((*redis).serve)

func (r *redis) serve(s *redisStack) core.Yield {
	r.keeper.Ask(s, &s.held, hold{key: 1})
	return core.Suspend(s, (*redis).letGo)
}

func (r *redis) letGo(s *redisStack) core.Yield {
	return s.Return(resp.Bulk(s.Req.Arg(s.Req.Len() - 1)))
}

// respCodec is what a server of the Redis protocol gives each connection.
type respCodec struct{ resp.Codec }

func (c *respCodec) Decode(in []byte, cmd *resp.Command) (int, error) {
	n, err := c.Codec.Decode(in, cmd)
	if n > 0 && cmd.Len() == 0 {
		err = channel.ErrSkip
	}
	return n, err
}

func (c *respCodec) Size(rep *resp.Reply, err error) int { return 64 + len(rep.Str) + len(rep.Text) }

func (c *respCodec) Refuse(out []byte, err error) []byte { return resp.AppendError(out, err.Error()) }

// TestRefusedRedisRequests: lengths that are too long, negative, or overflow, and
// other nonsense, behind requests in flight: first come their results, in order,
// then the error's text, then the end.
func TestRefusedRedisRequests(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		w.letGo(1)
		var fronts []core.Address[redis]
		for _, on := range w.system.Workers() {
			fronts = append(fronts, core.Spawn(on, func() *redis { return &redis{w.holds} }))
		}
		server, err := channel.Listen(w.ctx, channel.Config[resp.Command, resp.Reply]{
			Network: p.network,
			Address: address(t, p.network),
			Codec: func() channel.Codec[resp.Command, resp.Reply] {
				return &respCodec{resp.Codec{Decoder: resp.NewDecoder(resp.Limits{MaxBulk: 1 << 20})}}
			},
		}, redisServe, fronts...)
		require.NoError(t, err)
		for _, c := range []struct{ text, want string }{
			{"*-1\r\n", ""},
			{"*1048577\r\n", "Protocol error: invalid multibulk length"},
			{"*99999999999999999999\r\n", "Protocol error: invalid multibulk length"},
			{"*2147483648\r\n", "Protocol error: invalid multibulk length"},
			{"*x\r\n", "Protocol error: invalid multibulk length"},
			{"*1\r\n$-1\r\n", "Protocol error: invalid bulk length"},
			{"*1\r\n$1048577\r\n", "Protocol error: invalid bulk length"},
			{"*1\r\n$9223372036854775807\r\n", "Protocol error: invalid bulk length"},
			{"*1\r\n$99999999999999999999\r\n", "Protocol error: invalid bulk length"},
			{"*1\r\n$3\r\nabcd\r\n", "Protocol error: invalid bulk length"},
			{"*1\r\n:3\r\n", "Protocol error: expected '$', got ':'"},
			{"*" + strings.Repeat("1", 70_000), "Protocol error: too big mbulk count string"},
			{"*1\r\n$" + strings.Repeat("1", 70_000), "Protocol error: too big bulk count string"},
			{strings.Repeat("a", 70_000), "Protocol error: too big inline request"},
			{"a 'b\r\n", "Protocol error: unbalanced quotes in request"},
		} {
			for _, before := range []int{0, 1, 40} {
				conn := dialTo(t, p.network, server.Addr())
				var text, want strings.Builder
				for i := range before {
					fmt.Fprintf(&text, "ECHO x%d\r\n", i)
					fmt.Fprintf(&want, "$%d\r\nx%d\r\n", len(fmt.Sprint("x", i)), i)
				}
				text.WriteString(c.text)
				if c.want == "" {
					text.WriteString("ECHO a\r\n")
					want.WriteString("$1\r\na\r\n")
				} else {
					fmt.Fprintf(&want, "-ERR %s\r\n", c.want)
				}
				_, err := io.WriteString(conn, text.String())
				require.NoError(t, err)
				if c.want == "" {
					conn.halfClose()
				}
				got, err := io.ReadAll(conn)
				require.NoError(t, err, "%.40q behind %d", c.text, before)
				require.Equal(t, want.String(), string(got), "%.40q behind %d", c.text, before)
			}
		}
	})
}
