package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/house"
)

// lostAfter is how long a test waits for what must happen before it fails.
const lostAfter = 30 * time.Second

func TestMain(m *testing.M) {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close() // package net has opened what it keeps open
	}
	goleak.VerifyTestMain(m)
}

// world is a journal that is served until end, or the end of the test.
type world struct {
	testing.TB
	*house.System
	*Journal
	address string
}

func newWorld(t testing.TB, j *Journal) *world {
	w := &world{TB: t, Journal: j}
	w.System, w.address = serve(context.Background(), "127.0.0.1:0", j)
	t.Cleanup(w.end)
	return w
}

// end is what a kill is, but that it tells what is still out.
func (w *world) end() {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
	defer cancel()
	require.NoError(w, w.Shutdown(ctx))
	require.Zero(w, w.Outstanding(), "pooled objects are still out")
	if file, ok := w.file.(io.Closer); ok {
		file.Close()
	}
}

// client is one connection of a test.
type client struct {
	testing.TB
	net.Conn
	answers *bufio.Reader
}

func (w *world) dial() *client {
	conn, err := net.Dial("tcp", w.address)
	require.NoError(w, err)
	w.Cleanup(func() { conn.Close() })
	require.NoError(w, conn.SetDeadline(time.Now().Add(lostAfter)))
	return &client{w, conn, bufio.NewReader(conn)}
}

func (c *client) send(text string) {
	c.Helper()
	_, err := io.WriteString(c, text)
	require.NoError(c, err)
}

func (c *client) answer() string {
	c.Helper()
	line, err := c.answers.ReadString('\n')
	require.NoError(c, err)
	return strings.TrimSuffix(line, "\n")
}

// offset is what an answer that must be OK says.
func offset(t testing.TB, answer string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(answer, "OK "))
	require.NoError(t, err, answer)
	return n
}

// read returns the file at path.
func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// TestClients: what several clients append at once is in the file once, where the answers say, and
// that of each in its order, also behind a restart.
func TestClients(t *testing.T) {
	const clients, each, window = 8, 300, 30
	path := filepath.Join(t.TempDir(), "journal")
	last, lines := [clients]int{}, map[string]int{} // offsets: of each client's last line, of all
	for i := range last {
		last[i] = -1
	}
	for life := range 3 {
		w := newWorld(t, open(path))
		var all [clients]*client
		for i := range all {
			all[i] = w.dial()
		}
		line := func(i, n int) string { return fmt.Sprintf("life %d client %d line %d", life, i, n) }
		for from := 0; from < each; from += window {
			for i, c := range all {
				var text strings.Builder
				for n := range window {
					fmt.Fprintln(&text, line(i, from+n))
				}
				c.send(text.String())
			}
			for i, c := range all {
				for n := range window {
					at := offset(t, c.answer())
					require.Greater(t, at, last[i])
					last[i], lines[line(i, from+n)] = at, at
				}
			}
		}
		w.end()
	}
	text := read(t, path)
	require.Equal(t, 3*clients*each, strings.Count(text, "\n"))
	for line, at := range lines {
		require.True(t, strings.HasPrefix(text[at:], line+"\n"), "%q at %d", line, at)
	}
}

// TestTornTail: what stands behind the last whole line goes at the start, and the next line takes
// its place.
func TestTornTail(t *testing.T) {
	for _, c := range []struct{ before, whole string }{
		{"", ""},
		{"\n", "\n"},
		{"one\ntwo\n", "one\ntwo\n"},
		{"one\ntwo\nthr", "one\ntwo\n"},
		{"one", ""},
		{"one\n" + strings.Repeat("\x00", 100_000), "one\n"},
	} {
		path := filepath.Join(t.TempDir(), "journal")
		require.NoError(t, os.WriteFile(path, []byte(c.before), 0o600))
		w := newWorld(t, open(path))
		require.Equal(t, c.whole, read(t, path))
		a := w.dial()
		a.send("next\n")
		require.Equal(t, len(c.whole), offset(t, a.answer()))
		require.Equal(t, c.whole+"next\n", read(t, path))
	}
}

// TestFailingFiles: an error is told to those who wait for it, and to all who come then.
func TestFailingFiles(t *testing.T) {
	closed, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		file *os.File
		why  string
	}{{closed, "file already closed"}, {full, "write /dev/full: no space left on device"}} {
		w := newWorld(t, &Journal{file: c.file})
		for range 2 {
			a := w.dial()
			a.send("one\ntwo\n")
			for range 2 {
				answer := a.answer()
				require.True(t, strings.HasPrefix(answer, "ERR "), answer)
				require.Contains(t, answer, c.why)
			}
		}
	}
}

// TestLongLines: a line is as long as it may be, or the end of its connection, whether its newline
// has come or not.
func TestLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	w := newWorld(t, open(path))
	longest := strings.Repeat("x", 4095) + "\n"
	for _, more := range []string{"", "y", "y\n", longest} {
		a := w.dial()
		a.send(longest + "x" + longest[:4095] + more)
		offset(t, a.answer())
		require.Equal(t, "ERR a line has more than 4096 bytes", a.answer())
		_, err := a.answers.ReadByte()
		require.Error(t, err)
	}
	require.Equal(t, strings.Repeat(longest, 4), read(t, path))
}

// TestClientGoes: lines whose client has gone are there once or not at all, and in their order.
func TestClientGoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	w := newWorld(t, open(path))
	for i := range 20 {
		a := w.dial()
		var text strings.Builder
		for n := range 200 {
			fmt.Fprintln(&text, i, n)
		}
		a.send(text.String())
		if i%2 == 0 {
			offset(t, a.answer())
		}
		a.Close()
	}
	w.end()
	next := map[string]int{}
	for line := range strings.Lines(read(t, path)) {
		var i string
		var n int
		_, err := fmt.Sscanf(line, "%s %d\n", &i, &n)
		require.NoError(t, err, line)
		require.GreaterOrEqual(t, n, next[i], "client %s", i)
		next[i] = n + 1
	}
}

// TestAnswersFit: no reason is longer than the room that Size asks for.
func TestAnswersFit(t *testing.T) {
	var c lines
	for _, err := range []error{io.EOF, fmt.Errorf("%s", strings.Repeat("\U0001F4A5", 1000)), fmt.Errorf("%s", strings.Repeat("x", 1000))} {
		answer := string(c.Encode(nil, nil, err))
		require.LessOrEqual(t, len(answer), c.Size(nil, err))
		require.True(t, strings.HasPrefix(answer, "ERR ") && strings.HasSuffix(answer, "\n"), answer)
	}
	most := int64(1<<63 - 1)
	require.LessOrEqual(t, len(c.Encode(nil, &most, nil)), c.Size(&most, nil))
}
