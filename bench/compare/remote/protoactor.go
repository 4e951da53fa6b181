package main

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// counter is the sink of protoactor's.
type counter struct{ n uint64 }

func (c *counter) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *wrapperspb.BytesValue:
		c.n++
	case *emptypb.Empty:
		ctx.Respond(wrapperspb.UInt64(c.n))
	}
}

func protoactorSystem() (*actor.ActorSystem, *remote.Remote) {
	quiet := actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) })
	sys := actor.NewActorSystem(quiet)
	r := remote.NewRemote(sys, remote.Configure("127.0.0.1", 0))
	r.Start()
	return sys, r
}

func serveProtoactor(ready func(string)) error {
	sys, r := protoactorSystem()
	defer r.Shutdown(false)
	if _, err := sys.Root.SpawnNamed(actor.PropsFromProducer(func() actor.Actor { return &counter{} }), "sink"); err != nil {
		return err
	}
	ready(sys.Address())
	untilEnd()
	return nil
}

func counted(sys *actor.ActorSystem, to *actor.PID) (uint64, error) {
	got, err := sys.Root.RequestFuture(to, &emptypb.Empty{}, time.Minute).Result()
	if err != nil {
		return 0, err
	}
	n, ok := got.(*wrapperspb.UInt64Value)
	if !ok {
		return 0, fmt.Errorf("the answer is %v", got)
	}
	return n.Value, nil
}

func tellProtoactor(address string, n int) (r result, err error) {
	sys, rem := protoactorSystem()
	defer rem.Shutdown(false)
	to := actor.NewPID(address, "sink")
	send := func(n int) error {
		before, err := counted(sys, to)
		if err != nil {
			return err
		}
		for range n {
			sys.Root.Send(to, someBytes)
		}
		after, err := counted(sys, to)
		if err == nil && after != before+uint64(n) {
			err = fmt.Errorf("%d of %d came", after-before, n)
		}
		return err
	}
	if err = send(n/5 + 1); err != nil {
		return r, err
	}
	began := time.Now()
	err = send(n)
	return result{Each: float64(time.Since(began)) / float64(n), Count: n}, err
}

func askProtoactor(address string, n int) (r result, err error) {
	sys, rem := protoactorSystem()
	defer rem.Shutdown(false)
	to := actor.NewPID(address, "sink")
	return alone(n, func() error {
		_, err := counted(sys, to)
		return err
	})
}
