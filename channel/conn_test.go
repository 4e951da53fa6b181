package channel_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stackhouse-go/stackhouse/channel"
)

func TestG22RequestsSplitAtEveryByte(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		c := w.dial()
		const text = "a\nbb\n\nhold 1 ccc\nafter 1 d\n"
		w.letGo(1)
		for i := 1; i < len(text); i++ {
			for _, part := range []string{text[:i], text[i:]} {
				if _, err := c.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			c.expect("a", "bb", "ccc", "d")
		}
		for i := range len(text) {
			if _, err := c.Write([]byte(text[i : i+1])); err != nil {
				t.Fatal(err)
			}
		}
		c.expect("a", "bb", "ccc", "d")
	})
}

func TestResultsInOrderOfRequests(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		c := w.dial()
		var lines, want []string
		for i := range 100 {
			x := fmt.Sprint("x", i)
			switch i % 4 {
			case 0:
				lines = append(lines, fmt.Sprintf("after %d %s", 7-i%8, x))
			case 1:
				lines = append(lines, x)
			case 2:
				lines = append(lines, fmt.Sprintf("hold %d %s", 100-i, x))
			case 3:
				lines = append(lines, "throw "+x)
				x = "-" + x
			}
			want = append(want, x)
		}
		c.send(lines...)
		for i := range 101 { // the last requests first
			w.letGo(i)
		}
		c.expect(want...)
	})
}

func TestUndecodableRequestIsRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		for _, before := range []int{0, 1, 5} {
			c := w.dial()
			var lines, want []string
			for i := range before {
				lines = append(lines, fmt.Sprintf("after %d x%d", 5-i, i))
				want = append(want, fmt.Sprint("x", i))
			}
			c.send(append(lines, "!", "ignored")...)
			c.expect(append(want, "refused: "+errMark.Error())...)
			c.expectEnd()
		}
		c := w.dial()
		c.send(strings.Repeat("x", lineMax+1))
		c.expect("refused: " + errLong.Error())
		c.expectEnd()
		if n := w.server.Stats().Refused; n != 4 {
			t.Errorf("%d refused, want 4", n)
		}
	})
}

func TestInflightMaxPausesReading(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.InflightMax = 3 })
		c := w.dial()
		const n = 50
		var lines, want []string
		for i := range n {
			lines = append(lines, fmt.Sprintf("hold %d x%d", i, i))
			want = append(want, fmt.Sprint("x", i))
		}
		c.send(lines...)
		for i := range n {
			at := int64(min(i+3, n))
			w.await("the next request", func() bool { return w.keeper.holding.Load() == at })
			w.letGo(i)
			c.expect(want[i])
			if got := w.keeper.holding.Load(); got > at+1 {
				t.Fatalf("%d requests began with %d answered, want at most %d in flight", got, i+1, 3)
			}
		}
	})
}

// TestPausedAtEveryLimit has every limit so low that each request and each
// result meets it.
func TestPausedAtEveryLimit(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.InflightMax, c.ReadSize, c.OutputMax = 1, 1, 1 })
		c := w.dial()
		var lines, want []string
		for i := range 300 {
			x := fmt.Sprint(strings.Repeat("x", i), i)
			lines = append(lines, [...]string{x, "after 0 " + x}[i%2], "")
			want = append(want, x)
		}
		c.send(lines...)
		c.expect(want...)
	})
}

// lazyCodec doesn't know what it needs.
type lazyCodec struct{ lineCodec }

func (c *lazyCodec) Need() int { return 1 }

// TestLongRequestIsCopiedFewTimes: a codec that can't tell how long a request will
// be must not make it cost its length squared.
func TestLongRequestIsCopiedFewTimes(t *testing.T) {
	for _, codec := range []channel.Codec[request, reply]{&lineCodec{}, &lazyCodec{}} {
		w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) {
			c.ReadSize = 1 << 10
			c.Codec = func() channel.Codec[request, reply] { return codec }
		})
		c := w.dial()
		long := strings.Repeat("x", lineMax-10)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.send("last " + long)
		got, err := io.ReadAll(c.r)
		runtime.ReadMemStats(&after)
		if err != nil || len(got) != len(long)+1 {
			t.Fatalf("%d bytes, %v; want %d", len(got), err, len(long)+1)
		}
		// The client's own copies, the output, and slabs that grow by a fourth: five times the
		// request.
		if most := uint64(16 * len(long)); after.TotalAlloc-before.TotalAlloc > most {
			t.Errorf("%T: %d bytes were allocated for a request of %d", codec, after.TotalAlloc-before.TotalAlloc, len(long))
		}
	}
}

func TestHalfClosedClientGetsItsResults(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.InflightMax = 2 })
		c := w.dial()
		c.send("after 20 a", "hold 1 b", "c", "hold 2 d", "after 5 e", "big 300000", "f")
		c.Write([]byte("the start of a request"))
		c.halfClose()
		w.letGo(2)
		w.letGo(1)
		c.expect("a", "b", "c", "d", "e", big(300000), "f")
		c.expectEnd()
	})
}

// big is what the front answers to "big N".
func big(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return string(b)
}

func TestReturnLast(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		for _, behind := range []string{"x", "hold 1 x", "never", "last y", "!", "panic"} {
			c := w.dial()
			c.send("a", "after 1 b", "last c", behind, behind, strings.Repeat("z", 100000))
			c.expect("a", "b", "c")
			c.expectEnd()
		}
		w.await("all connections gone", func() bool { return w.server.Stats().Conns == 0 })
	})
}

func TestCodecPanics(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		healthy := w.dial()
		for _, bad := range []string{"decode-panic", "encode-panic", "encode-long", "encode-other"} {
			c := w.dial()
			c.send(bad, "hold 1 x", "never", "y")
			_, err := io.ReadAll(c.r)
			if err != nil && !isBroken(err) {
				t.Fatal(bad, err)
			}
			healthy.send("alive")
			healthy.expect("alive")
		}
		w.await("the bad connections gone", func() bool { return w.server.Stats().Conns == 1 })
		if w.failed.n.Load() == 0 {
			t.Error("no failure was reported")
		}
	})
}

// TestCodecPanicsBehindRequests: what was in flight before is released too.
func TestCodecPanicsBehindRequests(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		c := w.dial()
		c.send("hold 1 x", "hold 1 y", "never", "a", "hold 1 z", "b")
		w.await("the asks", func() bool { return w.keeper.holding.Load() == 3 })
		c.send("hold 1 queued", "c", "decode-panic")
		if _, err := io.ReadAll(c.r); err != nil && !isBroken(err) {
			t.Fatal(err)
		}
		w.await("the connection gone", func() bool { return w.server.Stats().Conns == 0 })
		w.await("the asks gone", func() bool { return w.freed.Load() == w.keeper.holding.Load() })
	})
}

func TestCodecFactoryPanics(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		var bad atomic.Bool
		w := openWorld(t, p, func(c *config) {
			c.Codec = func() channel.Codec[request, reply] {
				if bad.Load() {
					panic("no codec")
				}
				return &lineCodec{}
			}
		})
		healthy := w.dial()
		healthy.send("a")
		healthy.expect("a")
		bad.Store(true)
		w.dial().expectEnd()
		bad.Store(false)
		c := w.dial()
		c.send("b")
		c.expect("b")
		healthy.send("c")
		healthy.expect("c")
	})
}

func TestEncodeNothing(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, nil)
	c := w.dial()
	c.send("mark", "encode-none")
	c.expect("mark")
	c.send("encode-none", "a")
	c.expect("a")
	c.send("encode-none", "encode-none")
	w.await("the output gone", func() bool { return w.peek().Chunks == 0 })
	c.send("last encode-none")
	c.expectEnd()
}

func TestHandlerPanics(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		c := w.dial()
		c.send("a", "panic on", "throw up", "b")
		c.expect("a")
		got, err := c.r.ReadString('\n')
		if err != nil || !strings.HasPrefix(got, "-stackhouse: actor panicked") || !strings.HasSuffix(got, "the handler on\n") {
			t.Fatalf("%q, %v", got, err)
		}
		c.expect("-up", "b")
	})
}
