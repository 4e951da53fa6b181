package channel_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// words is a codec of lines: a request is the bytes of one, a reply is another.
type words struct{}

func (words) Decode(in []byte, req *[]byte) (n int, err error) {
	end := bytes.IndexByte(in, '\n')
	if end < 0 && len(in) > 1000 {
		return 0, fmt.Errorf("a line is longer than 1,000 bytes")
	}
	if end < 0 {
		return 0, nil
	}
	*req = in[:end]
	return end + 1, nil
}

func (words) Need() int { return 1 }

func (words) Size(rep *[]byte, err error) int { return len(*rep) + 100 }

func (words) Encode(out []byte, rep *[]byte, err error) []byte {
	if err != nil {
		return append(out, "error\n"...)
	}
	return append(append(out, *rep...), '\n')
}

func (words) Refuse(out []byte, err error) []byte { return append(append(out, err.Error()...), '\n') }

// shouter answers in capitals.
type shouter struct{}

type shout struct {
	core.ChannelStack[[]byte, []byte]
}

var shouting = channel.Handle((*shouter).shout)

func (*shouter) shout(s *shout) core.Yield {
	loud := s.Copy(s.Req) // bytes that live until the reply is written
	for i, c := range loud {
		if 'a' <= c && c <= 'z' {
			loud[i] = c - ('a' - 'A')
		}
	}
	return s.Return(loud)
}

func (words) RequestSize(req *[]byte) int { return len(*req) + 1 }

func (words) AppendRequest(out []byte, req *[]byte) []byte { return append(append(out, *req...), '\n') }

// A client of the server of Example: words is its codec, too. Errors are left out.
func ExampleDial() {
	ctx := context.Background()
	system, _ := house.New(house.Config{Workers: 2})
	system.Start(ctx)
	defer system.Shutdown(ctx)
	fronts := core.Replicate(system, func() *shouter { return &shouter{} })
	server, _ := channel.Listen(ctx, channel.Config[[]byte, []byte]{
		Network: "tcp",
		Address: "127.0.0.1:0",
		Codec:   func() channel.Codec[[]byte, []byte] { return words{} },
	}, shouting, fronts.All()...)
	defer server.Drain(ctx)

	client, err := channel.Dial(ctx, system, channel.ClientConfig[[]byte, []byte]{
		Network: "tcp",
		Address: server.Addr(),
		Codec:   func() channel.ClientCodec[[]byte, []byte] { return words{} },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	core.AskInto(ctx, client.Port(), []byte("how"), func(rep *[]byte) { fmt.Printf("%s\n", *rep) })
	// Output: HOW
}

// A server of lines on a port that the system picks: the client sends two requests
// at once and gets two replies. Errors are left out.
func Example() {
	ctx := context.Background()
	system, _ := house.New(house.Config{Workers: 2})
	system.Start(ctx)
	var fronts []core.Address[shouter]
	for _, w := range system.Workers() {
		fronts = append(fronts, core.Spawn(w, func() *shouter { return &shouter{} }))
	}
	server, err := channel.Listen(ctx, channel.Config[[]byte, []byte]{
		Network: "tcp",
		Address: "127.0.0.1:0",
		Codec:   func() channel.Codec[[]byte, []byte] { return words{} },
	}, shouting, fronts...)
	if err != nil {
		fmt.Println(err)
		return
	}
	system.OnShutdown(server.Drain)

	conn, _ := net.Dial("tcp", server.Addr())
	fmt.Fprintf(conn, "how\nloud\n")
	lines := bufio.NewScanner(conn)
	for range 2 {
		lines.Scan()
		fmt.Println(lines.Text())
	}
	fmt.Println(server.Stats().Conns, "connection")
	fmt.Println("shutdown:", system.Shutdown(ctx))
	fmt.Println("open then:", lines.Scan(), server.Stats().Conns)
	conn.Close()
	// Output:
	// HOW
	// LOUD
	// 1 connection
	// shutdown: <nil>
	// open then: false 0
}
