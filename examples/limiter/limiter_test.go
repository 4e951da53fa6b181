package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/core"
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

// world is a limiter that is served until the end of the test.
type world struct {
	testing.TB
	*house.System
	address string
}

func newWorld(t testing.TB, like Bucket, most int) *world {
	w := &world{TB: t}
	w.System, w.address = serve(context.Background(), "127.0.0.1:0", like, most)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
		defer cancel()
		require.NoError(t, w.Shutdown(ctx))
		require.Zero(t, w.Outstanding(), "pooled objects are still out")
	})
	return w
}

// has reports whether there is a bucket of the key.
func (w *world) has(key string) bool {
	_, err := core.Lookup[Bucket](w.System, "/user/bucket."+key)
	return err == nil
}

// until returns when f does not return false any more.
func (w *world) until(f func() bool) {
	w.Helper()
	for began := time.Now(); !f(); runtime.Gosched() {
		require.Less(w, time.Since(began), lostAfter)
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

func (c *client) do(line string) string {
	c.Helper()
	c.send(line + "\n")
	return c.answer()
}

// number is what an answer says behind a word.
func number(t testing.TB, word, answer string) int {
	t.Helper()
	text, ok := strings.CutPrefix(answer, word+" ")
	require.True(t, ok, answer)
	n, err := strconv.Atoi(text)
	require.NoError(t, err, answer)
	return n
}

// TestClients: of one key all clients together get what a full bucket has, each token once, and of
// a key of its own each client gets as much.
func TestClients(t *testing.T) {
	const clients, each, burst = 8, 200, 1000
	w := newWorld(t, Bucket{burst: burst, every: time.Hour}, 0)
	var all [clients]*client
	for i := range all {
		all[i] = w.dial()
		var text strings.Builder
		for range each {
			fmt.Fprintf(&text, "TAKE shared 1\nTAKE own.%d 2\n", i)
		}
		all[i].send(text.String())
	}
	seen := map[int]bool{}
	for _, c := range all {
		last := burst
		for i := range each {
			if answer := c.answer(); strings.HasPrefix(answer, "OK ") {
				left := number(t, "OK", answer)
				require.Less(t, left, last)
				require.False(t, seen[left], "the token %d was given twice", left)
				last, seen[left] = left, true
			} else {
				ms := number(t, "WAIT", answer)
				require.True(t, 0 < ms && ms <= 3_600_000, answer)
			}
			require.Equal(t, fmt.Sprint("OK ", burst-2*(i+1)), c.answer())
		}
	}
	require.Len(t, seen, burst)
}

// TestWait: a bucket has nothing, says for how long, and then has it.
func TestWait(t *testing.T) {
	const burst, every = 10, 10 * time.Millisecond
	a := newWorld(t, Bucket{burst: burst, every: every}, 0).dial()
	began := time.Now()
	require.Equal(t, "OK 0", a.do("TAKE a 10"))
	for given := 0; given < 30; {
		answer := a.do("TAKE a 5")
		if strings.HasPrefix(answer, "WAIT ") {
			ms := number(t, "WAIT", answer)
			require.True(t, 0 < ms && ms <= 50, answer)
			continue
		}
		given += 5
		// A worker reads the clock once a turn, so the first take may be dated before began.
		require.Greater(t, time.Since(began), time.Duration(given)*every/2)
	}
}

// TestBucketsGo: a bucket that is idle goes, and makes room for another one.
func TestBucketsGo(t *testing.T) {
	w := newWorld(t, Bucket{burst: 5, every: time.Millisecond}, 2)
	a := w.dial()
	for i := range 20 {
		key := fmt.Sprint("key.", i)
		w.until(func() bool { return a.do("TAKE "+key+" 5") == "OK 0" })
		if i%3 == 0 {
			w.until(func() bool { return !w.has(key) })
			require.Equal(t, "OK 0", a.do("TAKE "+key+" 5"), "it was made anew")
		}
	}
}

// TestMax: who wants one bucket more than there may be is refused, and nobody else.
func TestMax(t *testing.T) {
	w := newWorld(t, Bucket{burst: 5, every: time.Hour}, 2)
	a := w.dial()
	for left := 4; left >= 0; left-- {
		for _, key := range []string{"a", "b"} {
			require.Equal(t, fmt.Sprint("OK ", left), a.do("TAKE "+key+" 1"))
		}
		require.Equal(t, "ERR stackhouse: overloaded", a.do("TAKE c 1"))
	}
}

// TestBadLines: they get ERR in their turn, make no bucket, and the next line is read.
func TestBadLines(t *testing.T) {
	const usage = "ERR a line is TAKE <key> <n>, with n from 1 to 5"
	longest := strings.Repeat("k", 248)
	w := newWorld(t, Bucket{burst: 5, every: time.Hour}, 1)
	a := w.dial()
	for _, c := range []struct{ line, answer string }{
		{"", usage},
		{"TAKE", usage},
		{"TAKE ", usage},
		{"TAKE a", usage},
		{"TAKE a ", usage},
		{"TAKE  1", usage},
		{"TAKE  a 1", usage},
		{"TAKE a  1", usage},
		{"TAKE a 1 ", usage},
		{"TAKE a 1\r", usage},
		{"TAKE a b 1", usage},
		{"TAKE a one", usage},
		{"TAKE a 1.5", usage},
		{"TAKE a 0", usage},
		{"TAKE a -1", usage},
		{"TAKE a 6", usage},
		{"TAKE a 99999999999999999999", usage},
		{"TAKE a -99999999999999999999", usage},
		{"TAKE\ta 1", usage},
		{"take a 1", usage},
		{"GIVE a 1", usage},
		{"\x00\xff", usage},
		{"TAKE a/b 1", `ERR stackhouse: the name "bucket.a/b" has a byte that names can't have`},
		{"TAKE \xff 1", `ERR stackhouse: the name "bucket.\xff" has a byte that names can't have`},
		{"TAKE " + longest + "k 1", "ERR stackhouse: a name of 256 bytes, 255 are possible"},
	} {
		a.send(c.line + "\n" + c.line + "\n")
		require.Equal(t, c.answer, a.answer(), "%q", c.line)
		require.Equal(t, c.answer, a.answer(), "%q", c.line)
	}
	require.Equal(t, "OK 4", a.do("TAKE "+longest+" 1"), "there is room for one")
	a.send("TAKE\nTAKE " + longest + " 1\nTAKE " + longest + " 0004\nTAKE")
	for _, answer := range []string{usage, "OK 3", "WAIT 3600000"} {
		if strings.HasPrefix(answer, "WAIT ") {
			ms := number(t, "WAIT", a.answer())
			require.True(t, 3_500_000 < ms && ms <= 3_600_000, ms)
			continue
		}
		require.Equal(t, answer, a.answer())
	}
	a.send(" " + longest + " 3\n")
	require.Equal(t, "OK 0", a.answer(), "a line may come in pieces")
}

// TestLongLines: they are the end of their connection, whether the newline has come or not.
func TestLongLines(t *testing.T) {
	w := newWorld(t, Bucket{burst: 5, every: time.Hour}, 0)
	for i, more := range []string{"", "x", "x\n", "\nTAKE a 1\n"} {
		a := w.dial()
		longest := "TAKE " + strings.Repeat("x", 294) + "\n"
		a.send(longest + fmt.Sprintf("TAKE key.%d 1\n", i) + strings.Repeat("x", 300) + more)
		require.Equal(t, "ERR a line is TAKE <key> <n>, with n from 1 to 5", a.answer())
		require.Equal(t, "OK 4", a.answer())
		require.Equal(t, "ERR a line has more than 300 bytes", a.answer())
		_, err := a.answers.ReadByte()
		require.Error(t, err)
	}
	require.Equal(t, "OK 4", w.dial().do("TAKE a 1"))
}

// TestDecode: a line is taken once it is whole, and what stands behind it left.
func TestDecode(t *testing.T) {
	for _, line := range []string{"\n", "TAKE\n", "TAKE a 5\n", strings.Repeat("x", 299) + "\n", "TAKE " + strings.Repeat("x", 292) + " 5\n"} {
		var l lines
		for k := range len(line) {
			got := take{}
			n, err := l.Decode([]byte(line[:k]), &got)
			require.Zero(t, n, "%d of %q", k, line)
			require.NoError(t, err, "%d of %q", k, line)
			require.Zero(t, got, "%d of %q", k, line)
		}
		for _, more := range []string{"", "TAKE b 7\n", strings.Repeat("y", 1000)} {
			got, want := take{}, take{}
			if words := strings.Fields(line); len(words) == 3 {
				want = take{[]byte(words[1]), 5}
			}
			n, err := l.Decode([]byte(line+more), &got)
			require.Equal(t, len(line), n, "%q", line)
			require.NoError(t, err, "%q", line)
			require.Equal(t, want, got, "%q", line)
		}
	}
}

// TestClientGoes: who goes without waiting for answers has taken what it was there for, or not, and
// the next one gets the rest.
func TestClientGoes(t *testing.T) {
	const burst = 10_000
	w := newWorld(t, Bucket{burst: burst, every: time.Hour}, 0)
	for i := range 20 {
		a := w.dial()
		a.send(strings.Repeat("TAKE a 1\n", 200))
		if i%2 == 0 {
			a.answer()
		}
		a.Close()
	}
	left := number(t, "OK", w.dial().do("TAKE a 1"))
	require.True(t, burst-20*200-1 <= left && left < burst, left)
}

// TestAnswersFit: no answer is longer than the room that Size asks for.
func TestAnswersFit(t *testing.T) {
	l := lines{every: 1}
	for _, err := range []error{io.EOF, fmt.Errorf("%s", strings.Repeat("\U0001F4A5", 1000)), fmt.Errorf("%s", strings.Repeat("x", 1000))} {
		answer := string(l.Encode(nil, nil, err))
		require.LessOrEqual(t, len(answer), l.Size(nil, err))
		require.True(t, strings.HasPrefix(answer, "ERR ") && strings.HasSuffix(answer, "\n"), answer)
	}
	for _, c := range []struct {
		left   time.Duration
		answer string
	}{
		{0, "OK 0"},
		{1<<63 - 1, "OK 9223372036854775807"},
		{-1, "WAIT 1"},
		{-time.Millisecond, "WAIT 1"},
		{-time.Millisecond - 1, "WAIT 2"},
		{-365 * 24 * time.Hour, "WAIT 31536000000"},
	} {
		require.Equal(t, c.answer+"\n", string(l.Encode(nil, &c.left, nil)))
	}
}

// model is a bucket as one would explain it: it has a level, which rises with the time up to the
// brim. The level is said in time, in which it rises.
type model struct{ level, at time.Duration }

func newModel(like Bucket) *model { return &model{level: like.fill()} }

func (m *model) take(like Bucket, now time.Duration, n int64) (left time.Duration) {
	m.level, m.at = min(like.fill(), m.level+now-m.at), now
	left = m.level - time.Duration(n)*like.every
	if left >= 0 {
		m.level = left
	}
	return left
}

// grant is n tokens that were taken at a time.
type grant struct {
	n  int64
	at time.Duration
}

// lawful reports whether in no time more tokens were taken than come in it and a full bucket has.
// The grants are in order.
func lawful(like Bucket, grants []grant) bool {
	for i := range grants {
		sum := time.Duration(0)
		for _, g := range grants[i:] {
			if sum += time.Duration(g.n) * like.every; sum > like.fill()+g.at-grants[i].at {
				return false
			}
		}
	}
	return true
}

func TestLawful(t *testing.T) {
	like := Bucket{burst: 3, every: 10}
	require.True(t, lawful(like, []grant{{3, 7}, {1, 17}, {2, 37}}))
	require.False(t, lawful(like, []grant{{3, 7}, {1, 16}}))
	require.False(t, lawful(like, []grant{{1, 0}, {3, 7}, {3, 36}}))
	require.False(t, lawful(like, []grant{{4, 7}}))
}

// TestBucketModel: at any times a bucket gives what the model does, and as the law has it. One that
// is full is as good as a new one.
func TestBucketModel(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		like := Bucket{burst: 1 + rng.Int64N(20), every: 1 + time.Duration(rng.Int64N(1000))}
		b, m, now := like, newModel(like), time.Duration(rng.Int64N(10_000))
		var grants []grant
		for i := range 400 {
			switch rng.IntN(4) {
			case 0:
				now += time.Duration(rng.Int64N(int64(2 * like.fill())))
			case 1:
				now += time.Duration(rng.Int64N(int64(2 * like.every)))
			case 2:
				now += like.every
			}
			if b.full <= now && rng.IntN(2) == 0 {
				b = like
			}
			n := 1 + rng.Int64N(like.burst)
			left := b.takeAt(now, n)
			require.Equal(t, m.take(like, now, n), left, "seed %d: %d", seed, i)
			if left >= 0 {
				grants = append(grants, grant{n, now})
			} else if later := b; rng.IntN(2) == 0 {
				require.Zero(t, later.takeAt(now-left, n), "seed %d: %d: who has waited gets it", seed, i)
				require.Negative(t, later.takeAt(now-left-1, 1), "seed %d: %d", seed, i)
			}
		}
		require.True(t, lawful(like, grants), "seed %d: %v", seed, grants)
	}
}

// TestClockThatGoesBack: an actor that moves to another worker may find that its clock is behind.
func TestClockThatGoesBack(t *testing.T) {
	b := Bucket{burst: 2, every: 10}
	require.EqualValues(t, 0, b.takeAt(100, 2))
	require.EqualValues(t, -11, b.takeAt(99, 1))
	require.EqualValues(t, 0, b.takeAt(110, 1))
}
