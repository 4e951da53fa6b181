package netio

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Thousands of short connections through one poller, both ends of each. A nonce goes
// there and back on every one of them; connections are reset at random moments, also
// by the handlers of others, so that descriptors and slots are recycled while events for
// their former owners are under way.
func TestG6NonceThroughRecycledDescriptors(t *testing.T) {
	for i, batch := range []int{1, 7, batchMax} {
		seed := int64(i + 1)
		x := &exchange{
			fixture: newFixture(t, batch), seed: seed, rnd: rand.New(rand.NewSource(seed)),
			left: fewer(10_000) / len(batches),
		}
		listener, bound := x.listen("tcp", "127.0.0.1:0", ListenOptions{})
		x.listener, x.address = listener, bound
		tok, err := x.p.AddLevel(listener, x)
		require.NoError(t, err)
		for range 50 {
			x.dial()
		}
		x.until(func() bool { return x.left == 0 && len(x.ends) == 0 })
		require.NoError(t, x.p.Remove(tok, listener))
		require.Zero(t, x.p.Len())
		require.Zero(t, len(x.p.slots.chunks)*chunkSlots-x.p.slots.freeLen())
		require.NotZero(t, x.echoed)
		require.NotZero(t, x.killed)
		if batch == batchMax {
			require.NotZero(t, x.p.Stale(), "seed %d: no event was ever stale", seed)
		}
		t.Logf("batch %d: %d echoed, %d killed, %d stale, %d slots", batch, x.echoed, x.killed, x.p.Stale(), len(x.p.slots.chunks)*chunkSlots)
	}
}

// exchange is the listener, and owns the ends of all connections.
type exchange struct {
	*fixture
	seed           int64
	rnd            *rand.Rand
	listener       int
	address        string
	left           int // connections to begin yet
	ends           []*end
	echoed, killed int
}

// end is one end of a connection.
type end struct {
	x      *exchange
	fd     int
	token  Token
	at     int // in x.ends; -1 once removed
	client bool
	nonce  uint64 // of a client, 0 until sent
	buf    [8]byte
	got    int
}

func (x *exchange) dial() {
	if x.left == 0 {
		return
	}
	x.left--
	fd, err := Connect("tcp", x.address)
	require.NoError(x, err, "seed %d", x.seed)
	x.own(&end{fd: fd, client: true})
}

func (x *exchange) own(e *end) {
	e.x, e.at = x, len(x.ends)
	x.ends = append(x.ends, e)
	e.token = x.add(e.fd, e)
}

// Ready accepts.
func (x *exchange) Ready(Ready) {
	for {
		fd, err := Accept(x.listener)
		if err != nil {
			require.Equal(x, ErrAgain, err, "seed %d", x.seed)
			return
		}
		x.own(&end{fd: fd})
	}
}

// drop closes an end, by a reset, and begins a connection for each client gone.
func (x *exchange) drop(e *end) {
	last := x.ends[len(x.ends)-1]
	x.ends[e.at], last.at = last, e.at
	x.ends = x.ends[:len(x.ends)-1]
	e.at = -1
	require.NoError(x, x.p.Remove(e.token, e.fd), "seed %d", x.seed)
	require.NoError(x, abortive(e.fd))
	require.NoError(x, Close(e.fd))
	if e.client {
		x.dial()
	}
}

func (e *end) Ready(r Ready) {
	x := e.x
	require.GreaterOrEqual(x, e.at, 0, "seed %d: an event for a removed descriptor", x.seed)
	if x.rnd.Intn(20) == 0 {
		x.killed++
		victim := x.ends[x.rnd.Intn(len(x.ends))]
		if x.drop(victim); victim == e {
			return
		}
	}
	if err := e.step(r); err != nil && err != ErrAgain {
		allowed := err == io.EOF || err == errEchoed || err == syscall.ECONNRESET || err == syscall.EPIPE
		require.True(x, allowed, "seed %d: %v", x.seed, err)
		x.drop(e)
	}
}

var errEchoed = errors.New("the nonce is back")

func (e *end) step(Ready) error {
	x := e.x
	if e.client && e.nonce == 0 {
		if err := ConnectError(e.fd); err != nil {
			return err
		}
		e.nonce = x.rnd.Uint64() | 1
		binary.LittleEndian.PutUint64(e.buf[:], e.nonce)
		n, err := Write(e.fd, e.buf[:])
		require.True(x, err != nil || n == len(e.buf), "seed %d", x.seed)
		return err
	}
	for e.got < len(e.buf) {
		n, err := Read(e.fd, e.buf[e.got:])
		if err != nil {
			return err
		}
		e.got += n
	}
	if e.client {
		require.Equal(x, e.nonce, binary.LittleEndian.Uint64(e.buf[:]), "seed %d: another's nonce", x.seed)
		x.echoed++
		return errEchoed
	}
	e.got = 0
	_, err := Write(e.fd, e.buf[:])
	return err
}
