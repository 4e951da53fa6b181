//go:build !portable

package netio

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestDispatchReadiness(t *testing.T) {
	f := newFixture(t, batchMax)
	a, _ := f.pair()
	h := new(recorder)
	tok := f.add(a, h)
	for _, c := range []struct {
		events uint32
		want   Ready
	}{
		{unix.EPOLLIN, Readable},
		{unix.EPOLLOUT, Writable},
		{unix.EPOLLHUP, Closed},
		{unix.EPOLLRDHUP, Closed},
		{unix.EPOLLERR, Closed},
		{unix.EPOLLIN | unix.EPOLLOUT, Readable | Writable},
		{unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLHUP, Readable | Closed},
		{unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLERR, Readable | Writable | Closed},
	} {
		h.seen = nil
		f.p.at, f.p.end = 0, 2
		f.p.events[0], f.p.events[1] = event(unix.EPOLLIN, wakeToken), event(c.events, tok)
		require.Equal(t, 1, f.p.Deliver())
		require.Equal(t, []Ready{c.want}, h.seen, "events %#x", c.events)
	}
}
