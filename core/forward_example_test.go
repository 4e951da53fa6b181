package core_test

import (
	"context"
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

type (
	// Desk answers what it knows, and has the cellar answer the rest.
	Desk struct {
		news   map[string]string
		cellar core.Port[string, string]
	}
	// Cellar keeps what is old.
	Cellar struct{}

	query struct {
		core.AskStack[string, string]
	}
)

func (d *Desk) look(s *query) core.Yield {
	if text, ok := d.news[s.Req]; ok {
		return s.Return(text)
	}
	return d.cellar.Forward(s, s.Req)
}

func (*Cellar) look(s *query) core.Yield { return s.Return("an old " + s.Req) }

var (
	deskLook   = core.Handle((*Desk).look)
	cellarLook = core.Handle((*Cellar).look)
)

// The cellar's answer goes to who asked the desk, which hears no more of it.
func ExamplePort_Forward() {
	sys, _ := house.New(house.Config{})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	cellar := cellarLook.At(core.Spawn(sys, func() *Cellar { return &Cellar{} }))
	desk := deskLook.At(core.Spawn(sys, func() *Desk {
		return &Desk{news: map[string]string{"weather": "rain"}, cellar: cellar}
	}))
	for _, what := range []string{"weather", "map"} {
		fmt.Println(core.Ask(ctx, desk, what))
	}
	// Output:
	// rain <nil>
	// an old map <nil>
}
