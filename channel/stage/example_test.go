package stage_test

import (
	"fmt"
	"strings"

	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/pool"
)

// shout is a Stage that writes everything in capitals.
type shout struct{}

func (shout) Send(f *stage.Flow, p []byte) error {
	f.Down([]byte(strings.ToUpper(string(p))))
	return nil
}

func (shout) SendEnd(f *stage.Flow) error {
	f.Down([]byte("!"))
	return nil
}

// wire is a connection that prints what it is to send.
type wire struct{ shard pool.Shard }

func (*wire) Up(p []byte)              {}
func (*wire) Down(p []byte)            { fmt.Print(string(p)) }
func (w *wire) Bytes(n int) pool.Bytes { return w.shard.Bytes(n) }

// A pipeline alone, as a connection has it.
func ExamplePipeline() {
	l := stage.New(&wire{}, shout{})
	l.Open(0)
	l.Send(0, []byte("hello"))
	l.SendEnd(0)
	// Output: HELLO!
}
