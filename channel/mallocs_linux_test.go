//go:build !portable

// The portable poller allocates: goroutines and buffers stand behind each connection.

package channel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// TestRequestsAllocateNothing: a million of them, and their results, over several
// connections with a pipeline each. The client is in the process too.
func TestRequestsAllocateNothing(t *testing.T) {
	n := 1_000_000
	if invariant.Race || invariant.Enabled {
		n = 10_000
	}
	for _, workers := range []int{1, 2} {
		for _, line := range []string{"echo of some bytes\n", "hold 1 x\n", "big 3000\n", "part x|part |y\n", "whose x\n", "push x\n"} {
			n := n
			if line[0] != 'e' || workers == 2 {
				n = min(n, 100_000)
			}
			t.Run(fmt.Sprintf("%d-%.4s", workers, line), func(t *testing.T) {
				w := openWorld(t, place{network: "tcp", workers: workers}, nil)
				w.letGo(1)
				answer := map[byte]string{'e': line, 'w': line, 'h': "x\n", 'b': big(3000) + "\n"}[line[0]]
				switch line[:4] {
				case "part":
					answer = "x\n\ny\n"
				case "push":
					answer = "x\npush x\n"
				}
				noneAllocated(t, w, n, line, answer)
			})
		}
	}
}

// noneAllocated requires that n requests, once as many as there will be at once were made, allocate
// nothing.
func noneAllocated(t *testing.T, w *world, n int, line, answer string) {
	load := newLoad(t, w, line, answer)
	defer load.close()
	// so that the pools hold more than ever is out at once later on
	load.run(n/10, 4*loadConns)
	housetest.ZeroAlloc(t, n, func(n int) { load.run(n, loadConns) })
}

// TestNumberedRequestsAllocateNothing: nor do results that go by number, and requests that are
// alone.
func TestNumberedRequestsAllocateNothing(t *testing.T) {
	n := 50_000
	if invariant.Race || invariant.Enabled {
		n = 10_000
	}
	for _, workers := range []int{1, 2} {
		for line, answer := range map[string]string{"7 echo of some bytes\n": "7 echo of some bytes\n", "7 hold 1 x\n": "7 x\n",
			"7 part x|part |y\n": "7 x\n7 \n7 y\n", "7 solo hold 1 x\n": "7 x\n"} {
			t.Run(fmt.Sprintf("%d-%.6s", workers, line), func(t *testing.T) {
				w := openWorld(t, place{network: "tcp", workers: workers}, func(c *config) { c.Codec = newBothCodec })
				w.letGo(1)
				noneAllocated(t, w, n, line, answer)
			})
		}
	}
}

// load is some raw connections whose pipelines are all alike.
type load struct {
	t         *testing.T
	fds       []int
	text      []byte // of one write
	want, got []byte // of its results
}

const (
	loadConns = 8
	loadDepth = 32
)

func newLoad(t *testing.T, w *world, line, answer string) *load {
	l := &load{t: t}
	for range loadDepth {
		l.text = append(l.text, line...)
		l.want = append(l.want, answer...)
	}
	l.got = make([]byte, len(l.want))
	for range 4 * loadConns {
		l.fds = append(l.fds, dialRaw(t, w.server.Addr()))
	}
	return l
}

func (l *load) close() {
	for _, fd := range l.fds {
		unix.Close(fd)
	}
}

// run makes n requests over the first conns connections: a pipeline on each, then
// the results of all.
func (l *load) run(n, conns int) {
	for done := 0; done < n; done += conns * loadDepth {
		for _, fd := range l.fds[:conns] {
			writeAll(l.t, fd, l.text)
		}
		for _, fd := range l.fds[:conns] {
			readAll(l.t, fd, l.got)
			if string(l.got) != string(l.want) {
				require.Equal(l.t, string(l.want), string(l.got))
			}
		}
	}
}
