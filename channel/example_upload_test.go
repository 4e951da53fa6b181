package channel_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// piece is a part of an upload: as much as has come.
type piece struct {
	bytes []byte
	last  bool
}

// uploads is a codec of uploads: a line says how many bytes come, and a line is the reply.
type uploads struct{ left int } // bytes of this one

func (u *uploads) Decode(in []byte, p *piece) (n int, err error) {
	if u.left == 0 {
		return u.begin(in)
	}
	n = min(len(in), u.left)
	u.left -= n
	p.bytes, p.last = in[:n], u.left == 0
	return n, nil
}

// begin reads the line before an upload.
func (u *uploads) begin(in []byte) (n int, err error) {
	end := bytes.IndexByte(in, '\n')
	if end < 0 && len(in) < 20 {
		return 0, nil
	}
	if u.left, err = strconv.Atoi(string(in[:max(end, 0)])); err != nil || u.left <= 0 {
		return 0, errors.New("no length of an upload")
	}
	return end + 1, channel.ErrSkip // a piece is answered, not this
}

// Alone has each piece wait until the one before is stored.
func (u *uploads) Alone(*piece) bool { return true }

func (u *uploads) Need() int { return 1 }

func (u *uploads) Size(stored *int, err error) int { return 40 }

func (u *uploads) Encode(out []byte, stored *int, err error) []byte {
	switch {
	case u.left > 0: // no other piece is decoded before this one's result is encoded
		return out
	case err != nil:
		return append(out, "not stored\n"...)
	}
	return fmt.Appendf(out, "%d bytes are stored\n", *stored)
}

func (u *uploads) Refuse(out []byte, err error) []byte {
	return append(append(out, err.Error()...), '\n')
}

// receiver has a disk store what comes, piece by piece.
type receiver struct{ disk core.Port[[]byte, int] }

type pieceStack struct {
	core.ChannelStack[piece, int]
	stored core.Future[int]
}

var receiving = channel.Handle((*receiver).receive)

func (r *receiver) receive(s *pieceStack) core.Yield {
	r.disk.Ask(s, &s.stored, s.Req.bytes)
	return core.Suspend(s, (*receiver).stored) // meanwhile nothing else is read
}

func (r *receiver) stored(s *pieceStack) core.Yield {
	all, err := s.stored.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(all) // written only if this was the last piece
}

// An upload in pieces, of which one at a time is in memory. Errors are left out.
func ExampleAlone() {
	ctx := context.Background()
	system, _ := house.New(house.Config{Workers: 2})
	system.Start(ctx)
	defer system.Shutdown(ctx)
	n := 0
	_, disk := core.SpawnFunc(system, func(s *core.AskStack[[]byte, int]) core.Yield {
		n += len(s.Req)
		return s.Return(n)
	})
	fronts := core.Replicate(system, func() *receiver { return &receiver{disk} })
	server, _ := channel.Listen(ctx, channel.Config[piece, int]{
		Network: "tcp",
		Address: "127.0.0.1:0",
		Codec:   func() channel.Codec[piece, int] { return &uploads{} },
	}, receiving, fronts.All()...)
	defer server.Drain(ctx)

	conn, _ := net.Dial("tcp", server.Addr())
	defer conn.Close()
	fmt.Fprintf(conn, "1000000\n%s", make([]byte, 1000000))
	reply, _ := bufio.NewReader(conn).ReadString('\n')
	fmt.Print(reply)
	// Output: 1000000 bytes are stored
}
