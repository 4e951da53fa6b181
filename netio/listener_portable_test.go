//go:build !linux || portable

package netio

import (
	"errors"
	"io"
	"math"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShareIsRefused(t *testing.T) {
	f := newFixture(t, batchMax)
	fd, _ := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	_, err := Share(fd)
	require.ErrorIs(t, err, errOptions)
}

// No more connections are accepted ahead than the backlog says.
func TestAcceptedAreBounded(t *testing.T) {
	f := newFixture(t, batchMax)
	fd, bound := f.listen("tcp", "127.0.0.1:0", ListenOptions{Backlog: 2})
	s, err := handles.find(fd)
	require.NoError(t, err)
	l := s.(*listener)
	for range 5 {
		conn, err := net.Dial("tcp", bound)
		require.NoError(t, err)
		defer conn.Close()
	}
	f.await("a full queue", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.queue) == 2 && !l.accepting
	})
	for range 5 {
		f.accept(fd)
	}
	_, err = Accept(fd)
	require.Equal(t, ErrAgain, err)
}

// scripted is a listener whose Accept fails while there are errors in it.
type scripted struct {
	net.Listener
	errs chan error
}

func (s *scripted) Accept() (net.Conn, error) {
	if err, ok := <-s.errs; ok {
		return nil, err
	}
	return nil, net.ErrClosed
}

func (s *scripted) Close() error { close(s.errs); return nil }

// Without descriptors the listener is ready, says so, and tries again.
func TestListenerWithoutDescriptors(t *testing.T) {
	f := newFixture(t, batchMax)
	by := &scripted{errs: make(chan error, 2)}
	s := &listener{by: by, max: 1}
	fd := handles.enter(s)
	s.retry()
	h := new(recorder)
	tok, err := f.p.AddLevel(fd, h)
	require.NoError(t, err)
	require.Zero(t, f.poll())
	by.errs <- &net.OpError{Op: "accept", Err: os.NewSyscallError("accept", syscall.EMFILE)}
	require.Equal(t, 1, f.next())
	require.Equal(t, 1, f.poll(), "it still is")
	_, err = Accept(fd)
	require.Equal(t, ErrDescriptors, err)
	_, err = Accept(fd)
	require.Equal(t, ErrAgain, err, "told once")
	by.errs <- syscall.EMFILE
	require.Equal(t, 1, f.next(), "it tried again")
	require.NoError(t, f.p.Remove(tok, fd))
	tok, err = f.p.AddLevel(fd, h)
	require.NoError(t, err)
	require.Zero(t, f.poll(), "adding it tries again too")
	require.NoError(t, f.p.Remove(tok, fd))
	require.NoError(t, Close(fd))
}

func TestFailure(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct{ err, want error }{
		{nil, nil},
		{io.EOF, io.EOF},
		{other, other},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, syscall.ECONNRESET},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("wsarecv", syscall.Errno(10054))}, syscall.ECONNRESET},
		{&net.OpError{Op: "accept", Err: os.NewSyscallError("accept", syscall.Errno(10024))}, ErrDescriptors},
		{syscall.ENFILE, ErrDescriptors},
		{syscall.EAGAIN, ErrAgain},
		{&net.OpError{Op: "read", Err: net.ErrClosed}, syscall.EBADF},
	} {
		require.Equal(t, c.want, failure(c.err))
	}
}

// A number is not given again before all others were, nor while it is open.
func TestHandlesCountUp(t *testing.T) {
	h := table{open: map[int]socket{}}
	a := h.enter(&stream{})
	_, err := h.leave(a)
	require.NoError(t, err)
	_, err = h.leave(a)
	require.Equal(t, syscall.EBADF, err)
	b := h.enter(&stream{})
	require.NotEqual(t, a, b)
	h.last = math.MaxInt32 - 1
	require.Equal(t, math.MaxInt32, h.enter(&stream{}))
	require.Equal(t, 1, h.enter(&stream{}))
	require.Equal(t, 3, h.enter(&stream{}), "%d is open", b)
}
