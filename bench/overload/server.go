package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

const (
	burnTime = 20 * time.Microsecond
	patience = 100 * time.Millisecond
	// wordSize is the bytes of a request: when it was due, ns by the time of day of the machine.
	// A result has the same, and a byte that says what became of it.
	wordSize = 8
	// inflightMax is per connection: results stay in the order of requests, so refusals wait
	// behind what was let in.
	inflightMax = 4096
	// workMax is per connection, too: all of them have work for less than 20 ms under way.
	workMax = 64
)

// What became of a request.
const (
	codeDone = iota
	codeFull
	codeLate
	codeOdd
	codes
)

type (
	codec struct{}

	// front passes requests on, with what is left of their time.
	front struct {
		burn core.Port[int64, struct{}]
		got  [codes]uint64 // what became of its requests
	}
	frontStack struct {
		core.ChannelStack[int64, int64]
		burnt core.Future[struct{}]
	}

	// burner works.
	burner struct {
		clock func() int64
		begun uint64
		late  uint64 // handlers that began after their deadline, by the worker's clock
		// by a clock read in the handler: the worker was stopped in between, or reads it for
		// several messages
		slips uint64
	}
	burnStack struct{ core.AskStack[int64, struct{}] }
)

func (codec) Decode(in []byte, req *int64) (int, error) {
	if len(in) < wordSize {
		return 0, nil
	}
	*req = int64(binary.LittleEndian.Uint64(in))
	return wordSize, nil
}

func (codec) Need() int { return wordSize }

func (codec) Size(*int64, error) int { return wordSize + 1 }

func (codec) Encode(out []byte, rep *int64, err error) []byte {
	// The front throws nothing: the code is in the lowest two bits.
	if err != nil {
		return append(binary.LittleEndian.AppendUint64(out, 0), codeFull)
	}
	return append(binary.LittleEndian.AppendUint64(out, uint64(*rep>>2)), byte(*rep&3))
}

func (codec) Refuse(out []byte, _ error) []byte { return out }

func (f *front) serve(s *frontStack) core.Yield {
	left := patience - time.Duration(time.Now().UnixNano()-s.Req)
	if left <= 0 {
		return f.end(s, codeLate)
	}
	f.burn.AskWithin(s, &s.burnt, s.Req, left)
	return core.Suspend(s, (*front).served)
}

func (f *front) served(s *frontStack) core.Yield {
	_, err := s.burnt.Get()
	switch {
	case err == nil:
		return f.end(s, codeDone)
	case errors.Is(err, core.ErrMailboxFull):
		return f.end(s, codeFull)
	case errors.Is(err, core.ErrTimeout):
		return f.end(s, codeLate)
	}
	return f.end(s, codeOdd)
}

func (f *front) end(s *frontStack, code int64) core.Yield {
	f.got[code]++
	return s.Return(s.Req<<2 | code)
}

func (b *burner) burn(s *burnStack) core.Yield {
	now := b.clock()
	b.begun++
	if core.Now(s) > s.Deadline() {
		b.late++
	}
	if now > s.Deadline() {
		b.slips++
	}
	for end := now + int64(burnTime); b.clock() < end; {
	}
	return s.Return(struct{}{})
}

var (
	onServe = channel.Handle((*front).serve)
	onBurn  = core.Handle((*burner).burn)
)

// counts is what the server counted.
type counts struct {
	Full, Late, Begun, BegunLate, Slipped uint64
}

// serve runs the server until it is told to end.
func serve(mailbox int) error {
	sys, err := house.New(house.Config{Workers: 1})
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	if err := sys.Start(ctx); err != nil {
		return err
	}
	b := &burner{clock: sys.Clock}
	to, err := core.SpawnWith(sys, func() *burner { return b }, core.Props{Mailbox: core.Bounded(mailbox, core.Reject)})
	if err != nil {
		return err
	}
	f := &front{burn: onBurn.At(to)}
	at := core.Spawn(sys, func() *front { return f })
	server, err := channel.Listen(ctx, channel.Config[int64, int64]{
		Network: "tcp", Address: "127.0.0.1:0", InflightMax: inflightMax, WorkMax: workMax,
		Codec: func() channel.Codec[int64, int64] { return codec{} },
	}, onServe, at)
	if err != nil {
		return err
	}
	sys.OnShutdown(server.Drain)
	fmt.Println(server.Addr())
	<-ctx.Done()
	if err := sys.Shutdown(context.Background()); err != nil {
		return err
	}
	// The actors have stopped: what they counted is ours.
	return json.NewEncoder(os.Stdout).Encode(counts{Full: f.got[codeFull] + server.Stats().Overloaded, Late: f.got[codeLate], Begun: b.begun, BegunLate: b.late, Slipped: b.slips})
}
