package netio

import (
	"bytes"
	"io"
	"math/rand"
	"os"
	"os/signal"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestReadAndWrite(t *testing.T) {
	f := newFixture(t, batchMax)
	for _, pair := range []func() (int, int){f.pair, f.tcpPair} {
		a, b := pair()
		buf := make([]byte, 16)
		_, err := Read(a, buf)
		require.Equal(t, ErrAgain, err)
		f.write(b, "hello")
		h := new(recorder)
		f.add(a, h)
		f.until(func() bool { return len(h.seen) > 0 && h.seen[len(h.seen)-1]&Readable != 0 })
		n, err := Read(a, buf[:3])
		require.NoError(t, err)
		require.Equal(t, "hel", string(buf[:n]))
		n, err = Read(a, nil)
		require.NoError(t, err, "no room is not the end")
		require.Zero(t, n)
		n, err = Read(a, buf)
		require.NoError(t, err)
		require.Equal(t, "lo", string(buf[:n]))
		n, err = Write(a, nil)
		require.NoError(t, err)
		require.Zero(t, n)
		require.NoError(t, Shutdown(b, true))
		f.until(func() bool { return h.seen[len(h.seen)-1]&Closed != 0 })
		_, err = Read(a, buf)
		require.Equal(t, io.EOF, err)
	}
	_, err := Read(-1, make([]byte, 1))
	require.Equal(t, unix.EBADF, err)
	_, err = Write(-1, make([]byte, 1))
	require.Equal(t, unix.EBADF, err)
	require.Equal(t, unix.EBADF, Close(-1))
}

func TestShutdownOfReading(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	require.NoError(t, Shutdown(a, false))
	_, err := Read(a, make([]byte, 1))
	require.Equal(t, io.EOF, err)
	_, err = Write(b, []byte("x"))
	require.Equal(t, unix.EPIPE, err)
}

// A full send buffer: part is written, then nothing, then room makes an edge.
func TestPartialWrite(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	f.add(a, h)
	f.poll()
	h.seen = nil
	big := make([]byte, 16<<20)
	n, err := Write(a, big)
	require.NoError(t, err)
	require.Less(t, n, len(big))
	for sent := n; ; sent += n {
		if n, err = Write(a, big); err != nil {
			require.Equal(t, ErrAgain, err)
			drained := 0
			for drained < sent {
				n, err = Read(b, big)
				require.NoError(t, err)
				drained += n
			}
			break
		}
	}
	require.Equal(t, 1, f.poll())
	require.NotZero(t, h.seen[0]&Writable)
}

// write(2) would raise SIGPIPE here. Signals that are due together are
// delivered in the order of their numbers, so the later one tells that it is not.
func TestWriteRaisesNoSignal(t *testing.T) {
	f := newFixture(t, batchMax)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGPIPE, unix.SIGWINCH)
	defer signal.Stop(signals)
	a, b := f.pair()
	require.NoError(t, Close(b))
	_, err := Write(a, []byte("x"))
	require.Equal(t, unix.EPIPE, err)
	var v IOVecs
	v.Add([]byte("x"))
	_, err = Writev(a, &v)
	require.Equal(t, unix.EPIPE, err)
	require.NoError(t, unix.Kill(unix.Getpid(), unix.SIGWINCH))
	require.Equal(t, unix.SIGWINCH, <-signals)
}

func TestAcceptedSocketIsNonBlocking(t *testing.T) {
	f := newFixture(t, batchMax)
	_, server := f.tcpPair()
	flags, err := unix.FcntlInt(uintptr(server), unix.F_GETFL, 0)
	require.NoError(t, err)
	require.NotZero(t, flags&unix.O_NONBLOCK)
	flags, err = unix.FcntlInt(uintptr(server), unix.F_GETFD, 0)
	require.NoError(t, err)
	require.NotZero(t, flags&unix.FD_CLOEXEC)
	require.NoError(t, SetNoDelay(server))
	on, err := unix.GetsockoptInt(server, unix.IPPROTO_TCP, unix.TCP_NODELAY)
	require.NoError(t, err)
	require.NotZero(t, on)
}

func TestAcceptErrors(t *testing.T) {
	f := newFixture(t, batchMax)
	listener, _ := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	_, err := Accept(listener)
	require.Equal(t, ErrAgain, err)
	_, err = Accept(-1)
	require.Equal(t, unix.EBADF, err)
	a, _ := f.pair()
	_, err = Accept(a)
	require.Equal(t, unix.EINVAL, err)
	for errno, want := range map[unix.Errno]bool{
		unix.ECONNABORTED: true, unix.EPROTO: true, unix.ENETDOWN: true,
		unix.EOPNOTSUPP: false, unix.EINVAL: false, unix.EAGAIN: false, unix.EMFILE: false,
	} {
		require.Equal(t, want, lost(errno), errno)
	}
}

// At the descriptor limit the connection stays queued, and is accepted later.
func TestAcceptWithoutDescriptors(t *testing.T) {
	f := newFixture(t, batchMax)
	listener, bound := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	client := f.connect("tcp", bound)
	require.NoError(t, f.connected(client))

	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	free, err := unix.Dup(listener)
	require.NoError(t, err)
	require.NoError(t, Close(free))
	low := limit
	low.Cur = uint64(free)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	_, acceptErr := Accept(listener)
	_, connectErr := Connect("tcp", bound)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))

	require.Equal(t, ErrDescriptors, acceptErr)
	require.ErrorIs(t, connectErr, ErrDescriptors)
	fd, err := Accept(listener)
	require.NoError(t, err)
	require.NoError(t, Close(fd))
}

func TestIOVecs(t *testing.T) {
	var v IOVecs
	require.True(t, v.Add(nil))
	require.Zero(t, v.Bytes())
	for range iovecsMax {
		require.True(t, v.Add([]byte("ab")))
	}
	require.False(t, v.Add([]byte("ab")))
	require.Equal(t, 2*iovecsMax, v.Bytes())
	v.Advance(3)
	require.Nil(t, v.vecs[0].Base, "a written buffer is let go")
	require.Equal(t, 2*iovecsMax-3, v.Bytes())
	require.PanicsWithValue(t, "netio: advance past the end", func() { v.Advance(v.Bytes() + 1) })
	v.Advance(v.Bytes())
	require.Equal(t, IOVecs{}, v)
	v.Add([]byte("ab"))
	v.Reset()
	require.Equal(t, IOVecs{}, v)
	n, err := Writev(-1, &v)
	require.NoError(t, err)
	require.Zero(t, n)
}

// What arrives is what was put into the lists, whatever the cuts.
func TestWritevAgainstModel(t *testing.T) {
	for seed := int64(1); seed <= 5; seed++ {
		rnd := rand.New(rand.NewSource(seed))
		f := newFixture(t, batchMax)
		a, b := f.pair()
		require.NoError(t, unix.SetsockoptInt(a, unix.SOL_SOCKET, unix.SO_SNDBUF, 4096))
		var v IOVecs
		var sent, received bytes.Buffer
		buf := make([]byte, 8192)
		partial := 0
		for range fewer(2000) {
			for range rnd.Intn(10) {
				piece := make([]byte, rnd.Intn(1500))
				rnd.Read(piece)
				if v.Add(piece) {
					sent.Write(piece)
				}
			}
			n, err := Writev(a, &v)
			if err != nil {
				require.Equal(t, ErrAgain, err, "seed %d", seed)
			}
			v.Advance(n)
			if n > 0 && v.Bytes() > 0 {
				partial++
			}
			n, err = Read(b, buf[:1+rnd.Intn(len(buf)-1)])
			if err != nil {
				require.Equal(t, ErrAgain, err, "seed %d", seed)
			}
			received.Write(buf[:n])
		}
		for received.Len() < sent.Len() {
			n, err := Writev(a, &v)
			require.True(t, err == nil || err == ErrAgain, "seed %d: %v", seed, err)
			v.Advance(n)
			n, err = Read(b, buf)
			require.NoError(t, err, "seed %d", seed)
			received.Write(buf[:n])
		}
		require.True(t, bytes.Equal(sent.Bytes(), received.Bytes()), "seed %d", seed)
		require.NotZero(t, partial, "seed %d: no partial write was tried", seed)
	}
}
