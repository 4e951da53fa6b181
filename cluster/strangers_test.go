package cluster

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
)

// stranger is a node of the test's own, which sends what it will.
type stranger struct {
	t    *testing.T
	conn net.Conn
	in   []byte
}

// meets dials a node as name, and says HELLO.
func meets(t *testing.T, to *Node, name string, h frame.Hello) *stranger {
	conn, err := net.Dial("tcp", to.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	s := &stranger{t: t, conn: conn}
	h.Name, h.Tracks, h.Incarnation = []byte(name), max(1, h.Tracks), max(1, h.Incarnation)
	s.sends(h.Append(nil))
	return s
}

func (s *stranger) sends(all ...[]byte) {
	for _, f := range all {
		_, err := s.conn.Write(f)
		require.NoError(s.t, err)
	}
}

// declares says what a pair's counter is told by, as method 1, and the counter, as actor 1.
func (s *stranger) declares(p *pair) {
	m := p.here.node.self.methods.byName["test.counter.tell"]
	s.sends((&frame.Method{Number: 1, Name: []byte(m.Name), Request: m.request.AppendSchema(nil)}).Append(nil),
		(&frame.Ref{Number: 1, Serial: p.at.House().Serial()}).Append(nil))
}

// tells tells the counter of items, from a number to another one, whatever it says.
func (s *stranger) tells(p *pair, from, to int) {
	m := p.here.node.self.methods.byName["test.counter.tell"]
	var all []byte
	for i := from; i < to; i++ {
		all = (&frame.Tell{To: 1, Method: 1, Message: wire.Append(m.request, nil, &item{N: i})}).Append(all)
	}
	s.sends(all)
}

// hello reads HELLO; an error if the connection ends first.
func (s *stranger) hello() (h frame.Hello, err error) {
	for {
		h, n, err := frame.NextHello(s.in)
		require.NoError(s.t, err)
		if n > 0 {
			s.in = s.in[n:]
			return h, nil
		}
		if err := s.more(); err != nil {
			return h, err
		}
	}
}

func (s *stranger) more() error {
	s.conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	b := make([]byte, 64<<10)
	n, err := s.conn.Read(b)
	s.in = append(s.in, b[:n]...)
	return err
}

// ends requires that the connection is closed.
func (s *stranger) ends() {
	s.t.Helper()
	for {
		if err := s.more(); err != nil {
			var late net.Error
			require.False(s.t, errors.As(err, &late) && late.Timeout(), "it stays open")
			return
		}
	}
}

// TestFramesThatCannotBe end the session: they would come again over the next connection.
func TestFramesThatCannotBe(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	m := there.node.self.methods.byName["test.counter.add"]
	declare := (&frame.Method{Number: 1, Name: []byte(m.Name), Request: m.request.AppendSchema(nil), Reply: m.reply.AppendSchema(nil)}).Append(nil)
	told := there.node.self.methods.byName["test.counter.tell"]
	notice := (&frame.Method{Number: 1, Name: []byte(told.Name), Request: told.request.AppendSchema(nil)}).Append(nil)
	again := (&frame.Method{Number: 2, Name: []byte(m.Name), Request: m.request.AppendSchema(nil), Reply: m.reply.AppendSchema(nil)}).Append(nil)
	long := (&frame.Tell{Method: 1, Message: make([]byte, 100_000)}).Append(nil)
	begins := (&frame.Part{Number: 1, Total: 100_000, Piece: []byte("a")}).Append(nil)
	zeros := make([]byte, 1_200_000)
	tellsAll := (&frame.Tells{Method: 1, Messages: frame.AppendMessage(nil, zeros[:100_000])}).Append(nil)
	bomb := s2.Encode(nil, (&frame.Tell{Method: 1, Message: make([]byte, 15<<20)}).Append(nil))
	for name, bad := range map[string][]byte{
		"packed: no S2":        packed(100_000, []byte("\xa0\x8d\x06\xff\xff")),
		"packed: cut":          packed(len(long), s2.Encode(nil, long)[:10]),
		"packed: longer":       slices.Concat(notice, packed(len(long)-1, s2.Encode(nil, long))),
		"packed: far longer":   slices.Concat(notice, packed(len(long), bomb)),
		"packed: no frame":     packed(100_000, s2.Encode(nil, make([]byte, 100_000))),
		"packed: two":          packed(2*len(long), s2.Encode(nil, slices.Concat(long, long))),
		"packed: packed":       slices.Concat(notice, packedOf(packedOf((&frame.Tell{Method: 1, Message: zeros}).Append(nil)))),
		"packed: TELLS":        slices.Concat(notice, packedOf(tellsAll)),
		"packed: no method":    packedOf(long),
		"ask by a notice":      (&frame.Ask{To: 0, Method: 1}).Append(slices.Clone(notice)),
		"notice by an ask":     (&frame.Tell{To: 0, Method: 1}).Append(slices.Clone(declare)),
		"context of no form":   (&frame.Ask{Method: 1, Context: []byte("none")}).Append(slices.Clone(declare)),
		"method twice":         slices.Concat(declare, again),
		"slot far ahead":       (&frame.Ask{Slot: partsMax + 1, To: 0, Method: 1}).Append(slices.Clone(declare)),
		"actor never found":    (&frame.Ref{Number: 1, Serial: 1}).Append(nil),
		"unknown actor":        (&frame.Tell{To: 7, Method: 1}).Append(nil),
		"unknown method":       (&frame.Tell{To: 0, Method: 1}).Append(nil),
		"unknown slot":         (&frame.Reply{Slot: 1}).Append(nil),
		"slot never used":      (&frame.Reply{Slot: 0}).Append(nil),
		"slot too high":        (&frame.Ask{Slot: slotsMax, To: 0, Method: 1}).Append(nil),
		"cancel too high":      (&frame.Cancel{Slot: slotsMax}).Append(nil),
		"method out of order":  (&frame.Method{Number: 2, Name: []byte("a"), Request: []byte{1, 1}}).Append(nil),
		"actor out of order":   (&frame.Ref{Number: 2, Serial: 1}).Append(nil),
		"acknowledged nothing": (&frame.Ack{Position: 5}).Append(nil),
		"hold nobody":          (&frame.Hold{To: 9}).Append(nil),
		"hold the next one":    (&frame.Hold{To: 1}).Append(nil),
		"tell the next one":    (&frame.Tell{To: 1, Method: 1}).Append(slices.Clone(notice)),
		"part begins twice":    slices.Concat(begins, begins),
		"gone nobody":          (&frame.Gone{To: 9}).Append(nil),
		"watch nobody":         (&frame.Watch{To: 9}).Append(nil),
		"stop nobody":          (&frame.Command{To: 9, Code: 1}).Append(nil),
		"part of nothing":      (&frame.Part{Number: 1, Total: 100_000, At: 5, Piece: []byte("a")}).Append(nil),
		"no frame":             {0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := meets(t, there.node, "here "+name, frame.Hello{Session: 1})
			h, err := s.hello()
			require.NoError(t, err)
			require.EqualValues(t, 1, h.Session)
			s.sends(bad)
			s.ends()
			s = meets(t, there.node, "here "+name, frame.Hello{Session: 1})
			h, err = s.hello()
			require.NoError(t, err)
			require.EqualValues(t, 2, h.Session, "the session before is over")
			s.ends()
			s = meets(t, there.node, "here "+name, frame.Hello{Session: 2})
			_, err = s.hello()
			require.NoError(t, err)
		})
	}
}

// TestStrangers who aren't nodes are sent away, those who say nothing, too.
func TestStrangers(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	for _, says := range []string{"", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00", "\xf5SH\x02", "\xf5SH\x01\x00\x00\x03\x0d\x02"} {
		conn, err := net.Dial("tcp", there.node.Addr())
		require.NoError(t, err)
		defer conn.Close()
		io.WriteString(conn, says)
		conn.SetReadDeadline(time.Now().Add(helloTime + 5*time.Second))
		n, err := conn.Read(make([]byte, 1))
		require.Zero(t, n)
		var late net.Error
		require.False(t, errors.As(err, &late) && late.Timeout(), "%q", says)
	}
	s := meets(t, there.node, "there", frame.Hello{Session: 1})
	s.ends()
	there.node.look(t, func(h *hub) { require.NotContains(t, h.links, "there") })
}

// TestNoticesTogether: TELLS is as many notices; those that nobody handles are dead letters.
func TestNoticesTogether(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	_, err := core.SpawnWith(p.there.sys, func() *sink { return &sink{} }, core.Props{Name: "another"})
	require.NoError(t, err)
	_, err = p.here.node.Lookup(t.Context(), "there", "/user/another")
	require.NoError(t, err)
	s := meets(t, p.there.node, "else", frame.Hello{Session: 1})
	_, err = s.hello()
	require.NoError(t, err)
	s.declares(&p)
	one := padded(1, 10)
	text := wire.Append(p.here.node.self.methods.byName["test.counter.tell"].request, nil, &one)
	all := frame.AppendMessage(frame.AppendMessage(frame.AppendMessage(nil, text), text), []byte("can't be read"))
	s.sends((&frame.Ref{Number: 2, Serial: 1 << 40}).Append(nil),
		(&frame.Tells{To: 1, Method: 1, Messages: all}).Append(nil),
		(&frame.Tell{To: 2, Method: 1, Message: text}).Append(nil))
	require.Eventually(t, func() bool { return p.there.letters() == 2 }, 5*time.Second, time.Millisecond)
	rep, err := core.Ask(t.Context(), count.At(p.far), struct{}{})
	require.NoError(t, err)
	require.Equal(t, 2, rep.Sum)
}

// TestTooManyNodes: who is away for longest is forgotten, with its session, unless something waits
// for it; nobody who is there is.
func TestTooManyNodes(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", Tracks: 2})
	there.node.look(t, func(h *hub) { h.linksMax = 3 })
	comes := func(name string, position uint64) (*stranger, uint64) {
		s := meets(t, there.node, name, frame.Hello{Session: 1, Position: position})
		h, err := s.hello()
		if err != nil {
			return s, 0
		}
		return s, h.Session
	}
	leaves := func(s *stranger, name string) {
		s.conn.Close()
		require.Eventually(t, func() (left bool) {
			there.node.look(t, func(h *hub) { left = h.links[name] == nil || len(h.links[name].conns) == 0 })
			return left
		}, 5*time.Second, time.Millisecond)
	}
	a, _ := comes("a", 0)
	b, _ := comes("b", 0)
	_, session := comes("c", 0)
	require.EqualValues(t, 1, session)
	_, session = comes("d", 0)
	require.Zero(t, session, "all are there")
	leaves(b, "b")
	leaves(a, "a")
	_, session = comes("d", 0)
	require.EqualValues(t, 1, session)
	there.node.look(t, func(h *hub) {
		require.Contains(t, h.links, "a")
		require.NotContains(t, h.links, "b", "it was away for longer")
		h.links["a"].tracks[1].wanted = true
	})
	_, session = comes("b", 0)
	require.Zero(t, session, "something waits for a")
	there.node.look(t, func(h *hub) { h.links["a"].tracks[1].wanted = false })
	again, session := comes("b", 100)
	require.EqualValues(t, 1, session)
	again.ends() // it has read what this session never had
	_, session = comes("b", 0)
	require.EqualValues(t, 2, session, "the one before is over")
}

// TestRefusedConnections are nothing that a link knows.
func TestRefusedConnections(t *testing.T) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0"})
	_, err := meets(t, there.node, "here", frame.Hello{Session: 1}).hello()
	require.NoError(t, err)
	for range 3 {
		meets(t, there.node, "here", frame.Hello{Session: 1}).ends() // its track is taken
	}
	there.node.look(t, func(h *hub) { require.Len(t, h.links["here"].conns, 1) })
}

// TestNumbersAhead: actors are declared by the next number, whatever number there may be one day.
func TestNumbersAhead(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	for _, name := range []string{"second", "third"} {
		_, err := core.SpawnWith(p.there.sys, func() *counter { return &counter{} }, core.Props{Name: name})
		require.NoError(t, err)
		_, err = p.here.node.Lookup(t.Context(), "there", "/user/"+name)
		require.NoError(t, err)
	}
	s := meets(t, p.there.node, "else", frame.Hello{Session: 1})
	_, err := s.hello()
	require.NoError(t, err)
	s.sends((&frame.Ref{Number: 2, Serial: p.at.House().Serial()}).Append(nil))
	s.ends()
}

// TestMethodsOfTheOtherSort: what is a notice here and an ask there, or the other way round, is no
// method that anybody has; the session goes on.
func TestMethodsOfTheOtherSort(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	s := meets(t, p.there.node, "else", frame.Hello{Session: 1})
	_, err := s.hello()
	require.NoError(t, err)
	s.declares(&p)
	all := p.here.node.self.methods.byName
	notice, ask := all["test.sink.drip"], all["test.counter.add"]
	schema := ask.request.AppendSchema(nil)
	s.sends((&frame.Method{Number: 2, Name: []byte(ask.Name), Request: schema}).Append(nil),
		(&frame.Method{Number: 3, Name: []byte(notice.Name), Request: notice.request.AppendSchema(nil), Reply: schema}).Append(nil),
		(&frame.Tell{To: 1, Method: 2, Message: wire.Append(ask.request, nil, &addReq{1})}).Append(nil),
		(&frame.Ask{Slot: 0, To: 1, Method: 3, Message: wire.Append(notice.request, nil, &eight{})}).Append(nil))
	s.tells(&p, 0, 1)
	require.Eventually(t, func() bool { return len(p.counter.numbers()) == 1 }, 5*time.Second, time.Millisecond)
	require.EqualValues(t, 1, p.there.letters())
	for {
		f, n, err := frame.Next(s.in)
		require.NoError(t, err)
		if n == 0 {
			require.NoError(t, s.more())
			continue
		}
		s.in = s.in[n:]
		var fail frame.Fail
		if f.Kind == frame.KindFail {
			require.NoError(t, fail.Read(f))
			require.Equal(t, core.ErrNoHandler, errorOf(&fail))
			return
		}
	}
}

// TestKeyedAsksOfAnotherType, or of a method whose requests are of another type there, are refused.
func TestKeyedAsksOfAnotherType(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	all := p.there.node.self.methods
	add, keyed := all.byName["test.counter.add"], all.keyed
	odd := all.byName["test.host.self"].request.AppendSchema(nil)
	text := wire.Append(keyed.request, nil, &keyedAsk{Key: 1, Path: "/user/counter", Method: add.Name})
	for i, schemas := range [][2][]byte{{odd, add.request.AppendSchema(nil)}, {keyed.request.AppendSchema(nil), odd}} {
		s := meets(t, p.there.node, fmt.Sprint("else", i), frame.Hello{Session: 1})
		_, err := s.hello()
		require.NoError(t, err)
		s.sends((&frame.Method{Number: 1, Name: []byte(keyedName), Request: schemas[0], Reply: keyed.reply.AppendSchema(nil)}).Append(nil),
			(&frame.Method{Number: 2, Name: []byte(add.Name), Request: schemas[1], Reply: add.reply.AppendSchema(nil)}).Append(nil),
			(&frame.Ask{Method: 1, Message: text}).Append(nil))
		var fail frame.Fail
		require.NoError(t, fail.Read(s.next(frame.KindFail)))
		require.NotEmpty(t, fail.Text)
	}
	p.there.node.look(t, func(h *hub) { require.Zero(t, h.replies.keys) })
}
