//go:build !portable

package cluster

import (
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestG24HalfOpenLinks: connections over which no HELLO comes take 16 KiB each at most, and end
// behind two seconds. A link that stands is served meanwhile.
func TestG24HalfOpenLinks(t *testing.T) {
	n := 500
	if housetest.Slow {
		n = 100
	}
	halfOpenLinks(t, n)
}

// TestLongHalfOpenLinks is the same for as many as one process has descriptors for, both ends.
func TestLongHalfOpenLinks(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG")
	}
	halfOpenLinks(t, 2400)
}

func halfOpenLinks(t *testing.T, n int) {
	secured := securing(t)
	var over []func()
	for _, c := range []struct {
		name, says  string
		here, there *secure.TLS
	}{
		{"plaintext, nothing", "", nil, nil},
		{"plaintext, a part of HELLO", "\xf5SH\x01\x00\x00\x20\x0d\x02", nil, nil},
		{"TLS, nothing", "", secured("here"), secured("there")},
		{"TLS, a part of a record", "\x16\x03\x01\x3f\xff\x01\x00\x3f", secured("here"), secured("there")},
	} {
		there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", TLS: c.there})
		_, err := core.SpawnWith(there.sys, func() *ledger { return &ledger{} }, core.Props{Name: "ledger"})
		require.NoError(t, err)
		here := newPlace(t, Config{Name: "here", TLS: c.here, Peers: map[string]string{"there": there.node.Addr()}})
		far, err := here.node.Lookup(t.Context(), "there", "/user/ledger")
		require.NoError(t, err)
		before := heap()
		began := time.Now()
		var fds []int
		for range n {
			fds = append(fds, dialRaw(t, there.node.Addr(), c.says))
		}
		p99 := latency(t, far, 100*time.Millisecond)
		each := (heap() - before) / n
		t.Logf("%s: %d bytes each; p99 of a link meanwhile %v", c.name, each, p99)
		if !housetest.Slow {
			require.Less(t, each, 16<<10)
		}
		over = append(over, func() {
			for _, fd := range fds {
				ends(t, fd, began.Add(helloTime+10*time.Second))
			}
			require.GreaterOrEqual(t, time.Since(began), helloTime*9/10)
			rep, err := core.Ask(t.Context(), add.At(far), addReq{1})
			require.NoError(t, err)
			require.Equal(t, 2, rep.Sum)
		})
	}
	for _, wait := range over {
		wait()
	}
}

// dialRaw connects a socket of which the process keeps but the descriptor, and writes to it.
func dialRaw(t *testing.T, address, says string) int {
	at := netip.MustParseAddrPort(address)
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	require.NoError(t, syscall.Connect(fd, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}))
	if says != "" {
		_, err = syscall.Write(fd, []byte(says))
		require.NoError(t, err)
	}
	return fd
}

// ends requires that the other end closes a socket until then.
func ends(t *testing.T, fd int, until time.Time) {
	left := syscall.NsecToTimeval(int64(max(time.Millisecond, time.Until(until))))
	require.NoError(t, syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &left))
	for alert := make([]byte, 100); ; { // which TLS may say
		n, err := syscall.Read(fd, alert)
		if n <= 0 {
			require.NotEqual(t, syscall.EAGAIN, err, "it stays open")
			return
		}
	}
}
