//go:build !portable

package channel_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
	"github.com/stackhouse-go/stackhouse/netio"
)

const (
	crowdSize = 1 << 10 // bytes of a message
	crowdPort = "STACKHOUSE_CROWD"
)

// TestBroadcast: connections that never read cost the others nothing but their share.
func TestBroadcast(t *testing.T) {
	broadcast(t, 200, 10, 20, 20*time.Millisecond)
}

func TestLongBroadcast(t *testing.T) {
	long(t)
	var all [2][]time.Duration
	for range 5 {
		for i, silent := range []int{0, 100} {
			all[i] = append(all[i], broadcast(t, 10_000, silent, 50, 300*time.Millisecond))
		}
	}
	t.Logf("p99 of those who read, without and with 1 %% who don't: %v, %v", all[0], all[1])
}

// broadcast has an audience of n connections in two processes hear some messages, and returns the
// 99th percentile of how long those took to those who read.
func broadcast(t *testing.T, n, silent, messages int, pause time.Duration) time.Duration {
	sys, err := house.New(house.Config{Workers: 2})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	defer sys.Shutdown(t.Context())
	at := core.Spawn(sys, func() *arena { return &arena{channel.NewAudience[reply](newLineCodec())} })
	sellers := core.Replicate(sys, func() *seller { return &seller{arena: arenaAdmit.At(at)} })
	server, err := channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:0", Codec: newLineCodec, OutputMax: 64 << 10, WriteTimeout: -1}, sellerServe, sellers.All()...)
	require.NoError(t, err)
	defer server.Close(t.Context())

	var crowds []*bufio.Scanner
	for i := range 2 {
		crowd := exec.Command(os.Args[0], "-test.run", "^TestCrowd$", "-test.v")
		crowd.Env = append(os.Environ(), fmt.Sprintf("%s=%s,%d,%d,%d", crowdPort, server.Addr(), n/2, silent/2, messages))
		out, err := crowd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, crowd.Start())
		defer crowd.Wait()
		defer crowd.Process.Kill()
		crowds = append(crowds, bufio.NewScanner(out))
		said(t, crowds[i], "ready")
	}
	for range messages {
		text := strconv.AppendInt(nil, time.Now().UnixNano(), 10)
		text = append(text, bytes.Repeat([]byte{' '}, crowdSize-len(text)-1)...)
		_, err := core.Ask(t.Context(), arenaSay.At(at), string(text))
		require.NoError(t, err)
		time.Sleep(pause)
	}
	var worst time.Duration
	for _, crowd := range crowds {
		p99, err := time.ParseDuration(said(t, crowd, "p99 "))
		require.NoError(t, err)
		worst = max(worst, p99)
	}
	return worst
}

// said returns what comes behind a word in the next line that begins with it.
func said(t *testing.T, lines *bufio.Scanner, word string) string {
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), word); ok {
			return rest
		}
	}
	require.Fail(t, "a crowd has ended before it said "+word)
	return ""
}

// TestCrowd is the process of the connections of broadcast.
func TestCrowd(t *testing.T) {
	fields := strings.Split(os.Getenv(crowdPort), ",")
	if len(fields) != 4 {
		t.Skip("a process of TestBroadcast")
	}
	var numbers [3]int
	for i := range numbers {
		numbers[i], _ = strconv.Atoi(fields[i+1])
	}
	n, silent, messages := numbers[0], numbers[1], numbers[2]
	poller, err := netio.Open()
	require.NoError(t, err)
	c := &crowd{poller: poller, left: (n - silent) * messages * crowdSize, buffer: make([]byte, 64*crowdSize)}
	for i := range n {
		fd := dialRaw(t, fields[0])
		if i < silent {
			require.NoError(t, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<10))
		}
		writeAll(t, fd, []byte("in\n"))
		readAll(t, fd, make([]byte, 3))
		require.NoError(t, unix.SetNonblock(fd, true))
		if i >= silent {
			_, err := poller.Add(fd, &hearer{crowd: c, fd: fd})
			require.NoError(t, err)
		}
	}
	fmt.Println("ready")
	for c.left > 0 {
		require.NoError(t, poller.Wait(int64(time.Minute)))
		_, err := poller.Poll()
		require.NoError(t, err)
		_ = poller.Deliver()
	}
	c.times.Publish()
	var all latency.Snapshot
	c.times.Snapshot(&all)
	fmt.Println("p99", all.Quantile(0.99))
}

// crowd is connections that hear.
type crowd struct {
	poller *netio.Poller
	left   int // bytes
	buffer []byte
	times  latency.Histogram
}

// hearer is one of them.
type hearer struct {
	crowd *crowd
	fd    int
	had   int // bytes of a message
	text  [20]byte
}

// Ready implements netio.Handler.
func (h *hearer) Ready(netio.Ready) {
	c := h.crowd
	for {
		n, err := c.poller.Read(h.fd, c.buffer)
		if n <= 0 || err != nil {
			return
		}
		c.left -= n
		for b := c.buffer[:n]; len(b) > 0; {
			copy(h.text[min(h.had, len(h.text)):], b)
			k := min(len(b), crowdSize-h.had)
			b, h.had = b[k:], h.had+k
			if h.had == crowdSize {
				sent, _, _ := bytes.Cut(h.text[:], space)
				ns, _ := strconv.ParseInt(string(sent), 10, 64)
				c.times.Record(time.Duration(time.Now().UnixNano() - ns))
				h.had = 0
			}
		}
	}
}
