package netio

import (
	"bytes"
	"io"
	"math/rand"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
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
	require.Equal(t, syscall.EBADF, err)
	_, err = Write(-1, make([]byte, 1))
	require.Equal(t, syscall.EBADF, err)
	require.Equal(t, syscall.EBADF, Close(-1))
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
	require.Zero(t, v.vecs[0], "a written buffer is let go")
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
		f.throttle(a, b)
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
			if rnd.Intn(4) > 0 {
				continue // so that the buffers fill
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
			require.True(t, err == nil || err == ErrAgain, "seed %d: %v", seed, err)
			if n == 0 {
				f.arrived(b)
			}
			received.Write(buf[:n])
		}
		require.True(t, bytes.Equal(sent.Bytes(), received.Bytes()), "seed %d", seed)
		require.NotZero(t, partial, "seed %d: no partial write was tried", seed)
	}
}

func TestShutdownOfReading(t *testing.T) {
	f := newFixture(t, batchMax)
	a, _ := f.pair()
	require.NoError(t, Shutdown(a, false))
	f.arrived(a)
	_, err := Read(a, make([]byte, 1))
	require.Equal(t, io.EOF, err)
}

func TestShutdownOfWriting(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	f.write(a, "x")
	require.NoError(t, Shutdown(a, true))
	_, err := Write(a, []byte("y"))
	require.Equal(t, syscall.EPIPE, err)
	h, buf := new(recorder), make([]byte, 8)
	f.add(b, h)
	f.until(func() bool { return h.last()&Closed != 0 })
	n, err := Read(b, buf)
	require.NoError(t, err)
	require.Equal(t, "x", string(buf[:n]))
	_, err = Read(b, buf)
	require.Equal(t, io.EOF, err)
	f.write(b, "z") // the other direction is open
	f.arrived(a)
	n, err = Read(a, buf)
	require.NoError(t, err)
	require.Equal(t, "z", string(buf[:n]))
}

// A full send buffer: part is written, then nothing, then room makes an edge.
func TestPartialWrite(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h, reads := new(recorder), new(recorder)
	f.add(a, h)
	f.add(b, reads)
	f.until(func() bool { return len(h.seen) > 0 && len(reads.seen) > 0 })
	big := make([]byte, 16<<20)
	sent, err := Write(a, big)
	require.NoError(t, err)
	require.Less(t, sent, len(big))
	for n := 0; err == nil; sent += n {
		n, err = Write(a, big)
	}
	require.Equal(t, ErrAgain, err)
	h.seen = nil
	drained := 0
	f.until(func() bool {
		for {
			n, err := Read(b, big)
			if drained += n; err == ErrAgain {
				return drained == sent
			}
			require.NoError(t, err)
		}
	})
	f.until(func() bool { return h.last()&Writable != 0 })
	_, err = Write(a, big)
	require.NoError(t, err)
}

func TestAcceptErrors(t *testing.T) {
	f := newFixture(t, batchMax)
	listener, _ := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	_, err := Accept(listener)
	require.Equal(t, ErrAgain, err)
	_, err = Accept(-1)
	require.Equal(t, syscall.EBADF, err)
	a, _ := f.pair()
	_, err = Accept(a)
	require.Equal(t, syscall.EINVAL, err)
}
