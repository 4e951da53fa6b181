package channel_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// teller tells clients who they are. It also opens connections of its own.
type teller struct {
	greets []string // of connections that were opened
	far    channel.ConnectConfig[teller, request, reply]
	peer   channel.Peer[reply]
	lines  []string
}

type (
	tellerStack struct {
		core.ChannelStack[request, reply]
	}
	tellerOpened struct {
		core.NoticeStack[channel.Opened[reply]]
	}
	tellerOpen struct {
		core.AskStack[string, string] // what is said; what was heard
		conn                          core.Future[channel.Peer[reply]]
		tick                          core.Future[core.Tick]
	}
	tellerGreets struct {
		core.AskStack[struct{}, []string]
	}
	tellerKnows struct{ core.AskStack[string, bool] }
)

var (
	tellerServes = channel.Handle((*teller).serve).WithOpened(core.HandleNotice((*teller).opened))
	tellerDials  = channel.Handle((*teller).heard)
	tellerOpens  = core.Handle((*teller).open)
	tellerTells  = core.Handle(func(c *teller, s *tellerGreets) core.Yield { return s.Return(c.greets) })
	tellerJudges = core.Handle(func(_ *teller, s *tellerKnows) core.Yield { return s.Return(s.Req == "friend") })
)

// who is what is known of the other end.
func who(p channel.Peer[reply]) string {
	s, secured := channel.TLSOf(p)
	if !secured {
		return "plain"
	}
	name := "nobody"
	if len(s.PeerCertificates) > 0 {
		name = s.PeerCertificates[0].Subject.CommonName
	}
	return fmt.Sprintf("%s asks %s for %q", name, s.ServerName, s.NegotiatedProtocol)
}

func (c *teller) serve(s *tellerStack) core.Yield { return s.Return(reply{[]byte(who(s.Peer()))}) }

func (c *teller) opened(s *tellerOpened) core.Yield {
	c.greets = append(c.greets, who(s.Msg.Peer))
	return s.Return()
}

// open connects, says something, and returns what it hears.
func (c *teller) open(s *tellerOpen) core.Yield {
	c.lines = nil
	channel.Connect(s, &s.conn, &c.far)
	return core.Suspend(s, (*teller).connected)
}

func (c *teller) connected(s *tellerOpen) core.Yield {
	var err error
	if c.peer, err = s.conn.Get(); err != nil {
		return s.Throw(err)
	}
	if err = c.peer.Notice(s, reply{[]byte(s.Req)}); err != nil {
		return s.Throw(err)
	}
	return c.waits(s)
}

func (c *teller) waits(s *tellerOpen) core.Yield {
	if len(c.lines) == 0 {
		core.Timer.Ask(s, &s.tick, time.Millisecond)
		return core.Suspend(s, (*teller).waits)
	}
	server, _ := channel.TLSOf(c.peer)
	return s.Return(server.PeerCertificates[0].Subject.CommonName + " says: " + c.lines[0])
}

func (c *teller) heard(s *tellerStack) core.Yield {
	c.lines = append(c.lines, string(s.Req.line))
	return s.Return(reply{})
}

// loudCodec is lineCodec whose results end with a bang: of the protocol "loud".
type loudCodec struct{ lineCodec }

func (c *loudCodec) Size(rep *reply, err error) int { return c.lineCodec.Size(rep, err) + 1 }

func (c *loudCodec) Encode(out []byte, rep *reply, err error) []byte {
	return c.lineCodec.Encode(append(out, '!'), rep, err)
}

// bank is a system with clerks that serve, and one that judges.
type bank struct {
	ctx    context.Context
	sys    *house.System
	server *server
	teller core.Address[teller]
	secret *secret
	by     *secure.TLS
}

func newBank(t *testing.T, set func(c *tls.Config)) *bank {
	ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
	o := &bank{ctx: ctx, secret: newSecret(t)}
	var err error
	o.sys, err = house.New(house.Config{Workers: 2})
	require.NoError(t, err)
	require.NoError(t, o.sys.Start(ctx))
	t.Cleanup(func() {
		require.NoError(t, o.sys.Shutdown(ctx))
		require.Zero(t, o.sys.Outstanding())
		cancel()
	})
	judge := core.Spawn(o.sys, func() *teller { return &teller{} })
	o.by = o.secret.server(func(c *tls.Config) {
		c.ClientCAs, c.ClientAuth = o.secret.ca.Pool(), tls.VerifyClientCertIfGiven
		c.NextProtos = []string{"loud", "low"}
		c.VerifyConnection = func(s tls.ConnectionState) error { // may ask an actor
			if len(s.PeerCertificates) == 0 {
				return nil
			}
			if friend, err := core.Ask(ctx, tellerJudges.At(judge), s.PeerCertificates[0].Subject.CommonName); err != nil || !friend {
				return errors.Join(err, errors.New("no friend"))
			}
			return nil
		}
		if set != nil {
			set(c)
		}
	})
	o.teller = core.Spawn(o.sys, func() *teller { return &teller{} })
	o.server, err = channel.Listen(ctx, config{Network: "tcp", Address: "127.0.0.1:0", Codec: newLineCodec, TLS: o.by,
		CodecFor: func(protocol string) channel.Codec[request, reply] {
			if protocol == "loud" {
				return &loudCodec{}
			}
			return &lineCodec{}
		}}, tellerServes, o.teller)
	require.NoError(t, err)
	o.sys.OnShutdown(o.server.Drain)
	return o
}

// asks has a client of crypto/tls ask who it is.
func (o *bank) asks(t testing.TB, c *tls.Config) (string, error) {
	conn, err := net.Dial("tcp", o.server.Addr())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(lostAfter)))
	s := tls.Client(conn, c)
	if _, err = s.Write([]byte("who am I?\n")); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(s).ReadString('\n')
	return line, err
}

// TestTLSOf: a connection's actor knows who is there, from the first notice on, and by which
// protocol its codec speaks.
func TestTLSOf(t *testing.T) {
	o := newBank(t, nil)
	c := o.secret.client()
	got, err := o.asks(t, c)
	require.NoError(t, err)
	require.Equal(t, "nobody asks a.test for \"\"\n", got)

	c.NextProtos, c.Certificates = []string{"loud"}, []tls.Certificate{o.secret.issue(t, "friend")}
	got, err = o.asks(t, c)
	require.NoError(t, err)
	require.Equal(t, "!friend asks a.test for \"loud\"\n", got)

	c.NextProtos, c.Certificates = []string{"low"}, []tls.Certificate{o.secret.issue(t, "foe")}
	_, err = o.asks(t, c)
	require.ErrorContains(t, err, "bad certificate")

	greets, err := core.Ask(o.ctx, tellerTells.At(o.teller), struct{}{})
	require.NoError(t, err)
	require.Equal(t, []string{`nobody asks a.test for ""`, `friend asks a.test for "loud"`}, greets)

	_, secured := channel.TLSOf(channel.Peer[reply]{})
	require.False(t, secured)
}

// TestTLSConnect: an actor's own connection stands when its handshake is over.
func TestTLSConnect(t *testing.T) {
	o := newBank(t, nil)
	for _, believes := range []bool{true, false} {
		at := core.Spawn(o.sys, func() *teller {
			c := &teller{}
			by := &tls.Config{RootCAs: o.secret.ca.Pool()}
			if !believes {
				by = &tls.Config{}
			}
			c.far.Network, c.far.Address, c.far.Handler, c.far.TLS = "tcp", o.server.Addr(), tellerDials, secure.New(by)
			c.far.Codec = func() channel.Codec[request, reply] { return &bridgeCodec{} }
			return c
		})
		got, err := core.Ask(o.ctx, tellerOpens.At(at), "who?")
		if believes {
			require.NoError(t, err)
			require.Equal(t, `127.0.0.1 says: nobody asks  for ""`, got)
		} else {
			require.ErrorContains(t, err, "unknown authority")
		}
		require.NoError(t, at.StopWait(o.ctx))
	}
}

// TestTLSReload: no request fails while certificates and roots are set anew, time and again; and
// those that are set are the ones that hold.
func TestTLSReload(t *testing.T) {
	o := newBank(t, nil)
	c := o.secret.client()
	var group sync.WaitGroup
	ends := make(chan struct{})
	var asked atomic.Int64
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-ends:
					return
				default:
				}
				if _, err := o.asks(t, c); err != nil {
					t.Error(err)
					return
				}
				asked.Add(1)
			}
		})
	}
	for asked.Load() < 200 && !t.Failed() {
		o.by.Set(&tls.Config{Certificates: []tls.Certificate{o.secret.issue(t, "a.test")}})
		time.Sleep(time.Millisecond)
	}
	close(ends)
	group.Wait()
	other := newSecret(t)
	o.by.Set(&tls.Config{Certificates: []tls.Certificate{other.cert}})
	_, err := o.asks(t, c)
	require.ErrorContains(t, err, "unknown authority")
}
