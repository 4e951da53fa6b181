package core_test

import (
	"context"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// One operation is a blocking ask of an actor whose worker has nothing to do.
func BenchmarkAskOfParkedWorker(b *testing.B) {
	sys, err := house.New(house.Config{Workers: 1, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	if err := sys.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	p := lonerAdd.At(core.Spawn(sys, func() *loner { return &loner{} }))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := core.Ask(context.Background(), p, 1); err != nil {
			b.Fatal(err)
		}
	}
	if err := sys.Shutdown(context.Background()); err != nil {
		b.Fatal(err)
	}
}
