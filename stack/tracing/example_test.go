package tracing_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/tracing"
)

// Two asks share a context; a step of one of them sets a pair, which the other doesn't see.
func Example() {
	var shard pool.Shard
	trace, _ := tracing.ParseTrace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	a := tracing.Context{}.WithTrace(&shard, trace)
	b := a.Share()
	c, _ := b.WithPair(&shard, "tenant", "7")
	b.Drop()
	fmt.Printf("%q %q\n", a.Text().Pair("tenant"), c.Text().Pair("tenant"))
	fmt.Println(c.Text().Trace())
	a.Drop()
	c.Drop()
	// Output:
	// "" "7"
	// 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
}
