package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

// feeding is a load of one worker: actors that always have messages, and cold ones that
// have one now and then.
type feeding struct {
	budget  int           // house.Config.Budget; 0: the default
	feeders int           // actors that always have messages
	busy    time.Duration // how long a step of theirs takes
	cold    int           // actors
	conns   int           // connections that ask for an echo now and then
}

const (
	fedQueue   = 512                    // messages of a feeder
	coldEvery  = 100 * time.Microsecond // one cold actor gets a message
	echoEvery  = 10 * time.Millisecond  // a connection asks
	turnTime   = 200 * time.Microsecond // house.Config.TurnTime
	fairBudget = 32                     // house.Config.Budget, by default
)

type (
	// feeder always has messages, from itself.
	feeder struct {
		self  core.NoticePort[uint64]
		all   *teller
		left  int // messages queued
		ops   uint64
		ended int64 // when its last step did
	}

	// teller tells the cold ones, and keeps what is measured: all are on one worker.
	teller struct {
		busy  int64
		round *round
		over  bool
		cold  []core.NoticePort[int64]

		waits, steps, gaps latency.Histogram
	}
	telling struct {
		core.NoticeStack[*round]
		tick core.Future[core.Tick]
		next int // of the cold ones
	}

	coldOne struct{ all *teller }
)

// Set by init: a step that names its own handler would be an initialization cycle.
var (
	feederFill = core.HandleNotice((*feeder).fill)
	feederMore core.NoticeHandler[feeder, uint64]
	tellerTell = core.HandleNotice((*teller).tell)
	coldHear   = core.HandleNotice((*coldOne).hear)
)

func init() { feederMore = core.HandleNotice((*feeder).more) }

func (f *feeder) fill(s *core.NoticeStack[*round]) core.Yield {
	f.left, f.ops, f.ended = fedQueue, 0, 0
	for range fedQueue {
		f.self.Notice(s, 0)
	}
	return s.Return()
}

func (f *feeder) more(s *core.NoticeStack[uint64]) core.Yield {
	f.ops++
	if f.all.over {
		if f.left--; f.left == 0 {
			f.all.round.leave(f.ops)
		}
		return s.Return()
	}
	f.self.Notice(s, 0)
	if f.all.busy > 0 {
		f.work()
	}
	return s.Return()
}

// work is busy, and notes how long, and what came between this step and the last.
func (f *feeder) work() {
	began := now()
	if f.ended != 0 {
		f.all.gaps.Record(time.Duration(began - f.ended))
	}
	for f.ended = now(); f.ended-began < f.all.busy; {
		f.ended = now()
	}
	f.all.steps.Record(time.Duration(f.ended - began))
}

func (t *teller) tell(s *telling) core.Yield {
	at := now()
	if s.next > 0 && s.Msg.over(at) { // one at least, however late this is
		t.over = true
		s.Msg.leave(0)
		return s.Return()
	}
	s.Msg.drivers.Add(1)
	t.cold[s.next].Notice(s, at)
	s.next = (s.next + 1) % len(t.cold)
	core.Timer.Ask(s, &s.tick, coldEvery)
	return core.Suspend(s, (*teller).tell)
}

func (c *coldOne) hear(s *core.NoticeStack[int64]) core.Yield {
	c.all.waits.Record(time.Duration(now() - s.Msg))
	c.all.round.leave(0)
	return s.Return()
}

// run measures a load. An operation is a message of a feeder; the times are the cold ones' waits.
func (l feeding) run(o options) (res result, t *teller, err error) {
	o.workers = 2
	t = &teller{busy: int64(l.busy)}
	var clients sync.WaitGroup
	res, err = withConfig(house.Config{Workers: 2, Budget: l.budget}, o, func(sys *house.System) load {
		at := core.Spawn(sys.Workers()[0], func() *teller { return t })
		var feeders []core.NoticePort[*round]
		for range l.feeders {
			f := &feeder{all: t}
			at := core.Spawn(sys.Workers()[0], func() *feeder { return f })
			f.self = feederMore.At(at)
			feeders = append(feeders, feederFill.At(at))
		}
		for range l.cold {
			t.cold = append(t.cold, coldHear.At(core.Spawn(sys.Workers()[0], func() *coldOne { return &coldOne{t} })))
		}
		failed := l.connect(sys, &clients)
		return load{
			drivers:   1 + l.feeders,
			latencies: []*latency.Histogram{&t.waits},
			start: func(r *round) {
				if failed != nil {
					r.fail(failed)
					return
				}
				t.round, t.over, t.steps, t.gaps = r, false, latency.Histogram{}, latency.Histogram{}
				for _, f := range feeders {
					core.Notice(f, r)
				}
				core.Notice(tellerTell.At(at), r)
			},
		}
	})
	clients.Wait()
	return res, t, err
}

// parrot answers lines with themselves.
type parrot struct{}

type parrotCodec struct{}

func (parrotCodec) Decode(in []byte, req *[]byte) (int, error) {
	end := bytes.IndexByte(in, '\n') + 1
	if end > 0 {
		*req = in[:end]
	}
	return end, nil
}
func (parrotCodec) Need() int                                        { return 1 }
func (parrotCodec) Size(rep *[]byte, _ error) int                    { return len(*rep) }
func (parrotCodec) Encode(out []byte, rep *[]byte, _ error) []byte   { return append(out, *rep...) }
func (parrotCodec) Refuse(out []byte, _ error) []byte                { return out }
func (*parrot) echo(s *core.ChannelStack[[]byte, []byte]) core.Yield { return s.Return(s.Copy(s.Req)) }

var parrotEcho = channel.Handle((*parrot).echo)

// connect starts the clients. They end when the system has closed their connections.
func (l feeding) connect(sys *house.System, clients *sync.WaitGroup) error {
	if l.conns == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	front := core.Spawn(sys.Workers()[0], func() *parrot { return &parrot{} })
	server, err := channel.Listen(ctx, channel.Config[[]byte, []byte]{
		Network: "tcp", Address: "127.0.0.1:0", Codec: func() channel.Codec[[]byte, []byte] { return parrotCodec{} },
	}, parrotEcho, front)
	if err != nil {
		return err
	}
	sys.OnShutdown(server.Drain)
	for i := range l.conns {
		conn, err := net.Dial("tcp", server.Addr())
		if err != nil {
			return err
		}
		clients.Go(func() {
			defer conn.Close()
			time.Sleep(echoEvery * time.Duration(i) / time.Duration(l.conns)) // not all at once
			line, back := []byte("polly\n"), make([]byte, 6)
			for {
				if _, err := conn.Write(line); err != nil {
					return
				}
				if _, err := io.ReadFull(conn, back); err != nil {
					return
				}
				time.Sleep(echoEvery)
			}
		})
	}
	return nil
}

// fairLoad is the load of the scenario fair.
var fairLoad = feeding{feeders: 1, busy: time.Microsecond, cold: 10_000, conns: 100}

func fair(o options) (result, error) {
	res, t, err := fairLoad.run(o)
	if err != nil {
		return res, err
	}
	bound := t.bound()
	if bound == 0 {
		return res, errors.New("the feeder hasn't worked")
	}
	res.note = fmt.Sprintf("the bound on the wait is %s, by the formula in docs/design/turn.md; p99 is %.2f of it, p99.9 %.2f",
		span(bound), float64(res.p[1])/float64(bound), float64(res.p[2])/float64(bound))
	return res, nil
}

// bound is the bound on the wait of a cold actor of fair, ns, with steps and ends of turns as
// they were measured, but for one in ten thousand. Ahead of it may be the visit under way, those
// to the feeder and to the front, and that to the teller, which has an answer.
func (t *teller) bound() int64 {
	t.steps.Publish()
	t.gaps.Publish()
	var steps, gaps latency.Snapshot
	t.steps.Snapshot(&steps)
	t.gaps.Snapshot(&gaps)
	step, end := int64(steps.Quantile(0.9999)), int64(gaps.Quantile(0.9999))
	if step == 0 {
		return 0
	}
	const visits = 4
	messages := visits * max(1, min(fairBudget, int64(turnTime)/(8*step)))
	perTurn := min(256, (int64(turnTime)+step-1)/step)
	return messages*step + (1+messages/perTurn)*end
}
