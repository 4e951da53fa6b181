package fault_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

const trace = `goroutine 59 [running]:
runtime/debug.Stack()
	/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
github.com/stackhouse-go/stackhouse/stack.(*Engine).fail(0x9d9994f2000, {0x75eee0, 0x882e20})
	/src/stack/visit_fail.go:41 +0x8b
panic({0x75eee0?, 0x882e20?})
	/usr/local/go/src/runtime/panic.go:694 +0x5e
main.(*Guard).ask(0x9d999767840?)
	/srv/guard.go:31 +0x1b
github.com/stackhouse-go/stackhouse/examples/kv.serve(...)
	/srv/serve.go:9
github.com/stackhouse-go/stackhouse/core.Ask[...](0x1)
	/src/core/guest.go:5 +0x1b
created by main.main in goroutine 1
	/srv/main.go:7 +0x1f
`

// TestFrames: a reader of a failure sees the calls of his own code first.
func TestFrames(t *testing.T) {
	require.Equal(t, []string{
		"main.(*Guard).ask /srv/guard.go:31",
		"github.com/stackhouse-go/stackhouse/examples/kv.serve /srv/serve.go:9",
		"created by main.main in goroutine 1 /srv/main.go:7",
		"runtime/debug.Stack /usr/local/go/src/runtime/debug/stack.go:26",
		"github.com/stackhouse-go/stackhouse/stack.(*Engine).fail /src/stack/visit_fail.go:41",
		"panic /usr/local/go/src/runtime/panic.go:694",
		"github.com/stackhouse-go/stackhouse/core.Ask[...] /src/core/guest.go:5",
	}, fault.Frames([]byte(trace)))
	for _, cut := range []string{"", "x", "goroutine 1 [running]:", "goroutine 1 [running]:\nmain.main()"} {
		require.LessOrEqual(t, len(fault.Frames([]byte(cut))), 1, cut) // and it doesn't panic
	}
	real := fault.Frames(debug.Stack()) // this test counts as the runtime's
	require.Contains(t, real[0], "testing.tRunner ")
	require.Contains(t, strings.Join(real, "\n"), "fault_test.TestFrames ")
}
