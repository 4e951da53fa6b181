package proto_test

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/stackhouse-go/stackhouse/cluster"
	_ "github.com/stackhouse-go/stackhouse/cluster/proto"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// clock says how long ago a time was.
type clock struct{ now time.Time }

// since is known to both processes.
var since = core.NewMethod[*timestamppb.Timestamp, *durationpb.Duration]("example.since")

func (c *clock) since(s *core.AskStack[*timestamppb.Timestamp, *durationpb.Duration]) core.Yield {
	return s.Return(durationpb.New(c.now.Sub(s.Req.AsTime())))
}

var _ = core.Handle((*clock).since).As(since)

func Example() {
	ctx := context.Background()
	sys, _ := house.New(house.Config{Workers: 1})
	_ = sys.Start(ctx)
	defer sys.Shutdown(ctx)
	_, _ = core.SpawnWith(sys, func() *clock { return &clock{time.Unix(1000, 0)} }, core.Props{Name: "clock"})
	node, _ := cluster.Start(ctx, sys, cluster.Config{Name: "tower", Listen: "127.0.0.1:0", Plaintext: true})

	client, _ := cluster.Dial(ctx, cluster.Config{Name: "visitor", Peers: map[string]string{"tower": node.Addr()}, Plaintext: true})
	defer client.Close(ctx)
	at, _ := client.Lookup(ctx, "tower", "/user/clock")
	ago, err := core.Ask(ctx, since.At(at), timestamppb.New(time.Unix(900, 0)))
	fmt.Println(ago.AsDuration(), err)
	// Output: 1m40s <nil>
}
