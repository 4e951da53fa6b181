package channel

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
)

// TestOutputAgainstModel: results of random sizes, and a socket that takes random
// parts of them. The model is one run of bytes.
func TestOutputAgainstModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	from, to := pair(t)
	var net netio.Poller
	var (
		shard      pool.Shard
		iov        netio.IOVecs
		out        output
		want, got  []byte
		buf        = make([]byte, 20_000) // less than comes, so that the socket is full in the end
		next       byte
		sizes      = []int{0, 1, 10, 100, 5_000, 16_383, 16_384, 16_385, 70_000}
		bytesTotal int
		full       int // times that the socket took nothing, or a part
	)
	for range 10_000 {
		switch rng.IntN(4) {
		case 0, 1:
			n := sizes[rng.IntN(len(sizes))]
			if out.unsent > 1<<20 {
				continue
			}
			room := out.reserve(&shard, n+rng.IntN(50))
			for range n {
				next++
				room = append(room, next)
			}
			want = append(want, room...)
			out.commit(room)
			bytesTotal += n
		case 2:
			most, before := 1+rng.IntN(500_000), out.unsent
			if err := out.send(&net, from, &iov, most); err != nil {
				require.Equal(t, netio.ErrAgain, err, "seed %d", seed)
				require.NotZero(t, out.unsent, "seed %d", seed)
				full++
			} else {
				require.Equal(t, max(0, before-most), out.unsent, "seed %d", seed)
			}
		case 3:
			if n, err := netio.Read(to, buf[:1+rng.IntN(len(buf))]); err == nil {
				got = append(got, buf[:n]...)
			}
		}
		if out.unsent == 0 {
			require.Empty(t, out.chunks, "seed %d: a chunk without bytes", seed)
		}
		require.LessOrEqual(t, len(got), len(want), "seed %d", seed)
		require.Equal(t, string(want[:len(got)]), string(got), "seed %d", seed)
		want, got = want[len(got):], got[:0]
	}
	out.drop()
	shard.Flush()
	require.Zero(t, shard.Outstanding(), "seed %d", seed)
	require.NotZero(t, bytesTotal)
	require.Greater(t, full, 100, "seed %d: the socket was seldom full", seed)
}

// pair is two connected sockets, closed with the test.
func pair(t *testing.T) (a, b int) {
	p, err := netio.Open()
	require.NoError(t, err)
	defer p.Close()
	l, bound, err := netio.Listen("tcp", "127.0.0.1:0", netio.ListenOptions{})
	require.NoError(t, err)
	defer netio.Close(l)
	_, err = p.AddLevel(l, nobody{})
	require.NoError(t, err)
	a, err = netio.Connect("tcp", bound)
	require.NoError(t, err)
	tok, err := p.Add(a, nobody{})
	require.NoError(t, err)
	until(t, p, func() error { b, err = netio.Accept(l); return err })
	until(t, p, func() error { return netio.ConnectError(a) })
	require.NoError(t, p.Remove(tok, a))
	t.Cleanup(func() { netio.Close(a); netio.Close(b) })
	return a, b
}

// until waits for events until f doesn't return ErrAgain.
func until(t *testing.T, p *netio.Poller, f func() error) {
	err := f()
	for ; err == netio.ErrAgain; err = f() {
		require.NoError(t, p.Wait(-1))
		p.Deliver()
	}
	require.NoError(t, err)
}

// nobody is a handler that does nothing.
type nobody struct{}

func (nobody) Ready(netio.Ready) {}

func TestCommitRefusesWhatReserveDidNotGive(t *testing.T) {
	var (
		shard pool.Shard
		out   output
	)
	room := out.reserve(&shard, 10)
	require.PanicsWithValue(t, "channel: Encode appended more than Size said", func() { out.commit(append(room, make([]byte, chunkSize+1)...)) })
	require.PanicsWithValue(t, "channel: Encode returned other bytes than those it was to append to", func() { out.commit([]byte("x")) })
}

// TestResultsBesideALongOne: no other is put into its slab, which goes once it is sent.
func TestResultsBesideALongOne(t *testing.T) {
	for _, c := range []struct{ first, chunks int }{{100, 1}, {chunkSize + 1, 1}, {pool.SlabMax + 1, 2}} {
		var (
			shard pool.Shard
			out   output
		)
		out.commit(append(out.reserve(&shard, c.first), make([]byte, c.first)...))
		out.commit(append(out.reserve(&shard, 10), "0123456789"...))
		require.Len(t, out.chunks, c.chunks, "behind %d bytes", c.first)
	}
}
