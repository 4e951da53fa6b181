package main

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/stackhouse-go/stackhouse/bench/compare/remote/message"
	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/cluster/proto"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

type plain [8]uint64

var (
	tellOf      = core.NewNoticeMethod[plain]("bench.plain")
	tellProtoOf = core.NewNoticeMethod[*wrapperspb.BytesValue]("bench.protobuf")
	tellBlobOf  = core.NewNoticeMethod[*message.Blob]("bench.vtprotobuf")
	countOf     = core.NewMethod[plain, plain]("bench.count")
)

// sink counts what it is told.
type sink struct{ n uint64 }

func (k *sink) tell(s *core.NoticeStack[plain]) core.Yield { k.n++; return s.Return() }

func (k *sink) tellProto(s *core.NoticeStack[*wrapperspb.BytesValue]) core.Yield {
	k.n++
	return s.Return()
}

func (k *sink) tellBlob(s *core.NoticeStack[*message.Blob]) core.Yield { k.n++; return s.Return() }

func (k *sink) count(s *core.AskStack[plain, plain]) core.Yield { return s.Return(plain{k.n}) }

var (
	_ = core.HandleNotice((*sink).tell).As(tellOf)
	_ = core.HandleNotice((*sink).tellProto).As(tellProtoOf)
	_ = core.HandleNotice((*sink).tellBlob).As(tellBlobOf)
	_ = proto.Reuse[*wrapperspb.BytesValue]()
	_ = proto.Reuse[*message.Blob]()
	_ = core.Handle((*sink).count).As(countOf)
)

// how is in what way both nodes are run.
type how struct {
	secured bool // by TLS, both ways
	polls   bool // their workers poll the network before they park
}

// config is a node's.
func (h how) config(name string) (c cluster.Config, err error) {
	c = cluster.Config{Name: name, Plaintext: !h.secured}
	if h.secured {
		c.TLS, err = identity(name)
	}
	return c, err
}

// start starts a system of one worker.
func (h how) start() (*house.System, error) {
	c := house.Config{Workers: 1, AskTimeout: time.Minute, MailboxMax: mailbox}
	if h.polls {
		c.BusyPoll = 100 * time.Microsecond
	}
	sys, err := house.New(c)
	if err != nil {
		return nil, err
	}
	return sys, sys.Start(context.Background())
}

// serve runs the end that is asked.
func (h how) serve(ready func(string)) error {
	ctx := context.Background()
	c, err := h.config("sink")
	if err != nil {
		return err
	}
	sys, err := h.start()
	if err != nil {
		return err
	}
	defer sys.Shutdown(ctx)
	if _, err = core.SpawnWith(sys, func() *sink { return &sink{} }, core.Props{Name: "sink"}); err != nil {
		return err
	}
	c.Listen = "127.0.0.1:0"
	node, err := cluster.Start(ctx, sys, c)
	if err != nil {
		return err
	}
	ready(node.Addr())
	untilEnd()
	return nil
}

// source sends rounds of notices, each with an ask behind it, some rounds at a time.
type source struct{ took []int64 }

type sourceStep struct {
	core.AskStack[order, plain]
	begun int
	away  [16]core.Future[plain]
	since time.Time
}

// order is what a source is to send.
type order struct {
	to      core.AnyAddress
	rounds  int
	notices int // of each
	tell    func(core.AnyAddress, *sourceStep) error
	alone   bool // one round at a time, and each is timed
}

var (
	someBytes = wrapperspb.Bytes(make([]byte, 64))
	someBlob  = &message.Blob{Value: make([]byte, 64)}
)

func onePlain(to core.AnyAddress, s *sourceStep) error { return tellOf.At(to).Notice(s, plain{}) }
func oneProto(to core.AnyAddress, s *sourceStep) error {
	return tellProtoOf.At(to).Notice(s, someBytes)
}
func oneBlob(to core.AnyAddress, s *sourceStep) error { return tellBlobOf.At(to).Notice(s, someBlob) }

func (o *source) send(s *sourceStep) core.Yield {
	away := s.away[:]
	if s.Req.alone {
		away = away[:1]
	}
	waits := false
	var last plain
	for i := range away {
		f := &away[i]
		if f.Ready() {
			got, err := f.Get()
			if err != nil {
				return s.Throw(err)
			}
			if last[0] < got[0] {
				last = got
			}
			if s.Req.alone {
				o.took = append(o.took, int64(time.Since(s.since)))
			}
		}
		if !f.Waiting() && s.begun < s.Req.rounds {
			s.begun++
			if s.Req.alone {
				s.since = time.Now()
			}
			for range s.Req.notices {
				if err := s.Req.tell(s.Req.to, s); err != nil {
					return s.Throw(err)
				}
			}
			countOf.At(s.Req.to).Ask(s, f, plain{})
		}
		waits = waits || f.Waiting()
	}
	if waits {
		return core.SuspendAny(s, (*source).send)
	}
	return s.Return(last)
}

var sourceSend = core.Handle((*source).send)

// joined is a system with a node, and a sink at another one.
type joined struct {
	sys  *house.System
	sink core.AnyAddress
}

func (h how) join(address string) (j joined, err error) {
	ctx := context.Background()
	c, err := h.config("source")
	if err != nil {
		return j, err
	}
	if j.sys, err = h.start(); err != nil {
		return j, err
	}
	c.Peers = map[string]string{"sink": address}
	node, err := cluster.Start(ctx, j.sys, c)
	if err == nil {
		j.sink, err = node.Lookup(ctx, "sink", "/user/sink")
	}
	return j, err
}

// notices is how many a round has, and mailbox what 16 rounds fit in.
const notices, mailbox = 1000, 1 << 14

func (h how) tell(address string, n int, tell func(core.AnyAddress, *sourceStep) error) (r result, err error) {
	j, err := h.join(address)
	if err != nil {
		return r, err
	}
	defer j.sys.Shutdown(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	by := sourceSend.At(core.Spawn(j.sys, func() *source { return &source{} }))
	rounds := (n + notices - 1) / notices
	warm := rounds/5 + 1
	before, err := core.Ask(ctx, by, order{to: j.sink, rounds: warm, notices: notices, tell: tell})
	if err != nil {
		return r, err
	}
	began := time.Now()
	after, err := core.Ask(ctx, by, order{to: j.sink, rounds: rounds, notices: notices, tell: tell})
	all := time.Since(began)
	if err == nil && after[0] != uint64((rounds+warm)*notices) {
		err = fmt.Errorf("%d notices behind %d came", after[0], before[0])
	}
	return result{Each: float64(all) / float64(rounds*notices), Count: n}, err
}

func (h how) tellPlain(address string, n int) (result, error)    { return h.tell(address, n, onePlain) }
func (h how) tellProtobuf(address string, n int) (result, error) { return h.tell(address, n, oneProto) }
func (h how) tellBlob(address string, n int) (result, error)     { return h.tell(address, n, oneBlob) }

// askActor has an actor ask.
func (h how) askActor(address string, n int) (r result, err error) {
	j, err := h.join(address)
	if err != nil {
		return r, err
	}
	defer j.sys.Shutdown(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o := &source{}
	by := sourceSend.At(core.Spawn(j.sys, func() *source { return o }))
	if _, err = core.Ask(ctx, by, order{to: j.sink, rounds: n/5 + 1, alone: true}); err != nil {
		return r, err
	}
	o.took = make([]int64, 0, n)
	began := time.Now()
	if _, err = core.Ask(ctx, by, order{to: j.sink, rounds: n, alone: true}); err != nil {
		return r, err
	}
	return timed(o.took, int64(time.Since(began))), nil
}

// askGuest asks by this goroutine.
func (h how) askGuest(address string, n int) (r result, err error) {
	j, err := h.join(address)
	if err != nil {
		return r, err
	}
	defer j.sys.Shutdown(context.Background())
	p := countOf.At(j.sink)
	return alone(n, func() error {
		_, err := core.Ask(context.Background(), p, plain{})
		return err
	})
}

// alone times asks, one after the other.
func alone(n int, ask func() error) (r result, err error) {
	for range n/5 + 1 {
		if err = ask(); err != nil {
			return r, err
		}
	}
	took := make([]int64, 0, n)
	began := time.Now()
	for range n {
		from := time.Now()
		if err = ask(); err != nil {
			return r, err
		}
		took = append(took, int64(time.Since(from)))
	}
	return timed(took, int64(time.Since(began))), nil
}
