//go:build !portable

package netio

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestReusePort(t *testing.T) {
	f := newFixture(t, batchMax)
	shared := ListenOptions{ReusePort: true}
	_, bound := f.listen("tcp", "127.0.0.1:0", shared)
	_, again := f.listen("tcp", bound, shared)
	require.Equal(t, bound, again)
	_, _, err := Listen("tcp", bound, ListenOptions{})
	require.ErrorIs(t, err, unix.EADDRINUSE)
}

func TestUnknownZone(t *testing.T) {
	_, _, err := Listen("tcp", "[::1%nosuchzone]:1", ListenOptions{})
	require.Error(t, err)
	_, err = Connect("tcp", "[::1%nosuchzone]:1")
	require.Error(t, err)
}

func TestConnectToNobodysName(t *testing.T) {
	_, err := Connect("unix", socketName(t, "nobody"))
	require.ErrorIs(t, err, unix.ECONNREFUSED)
}

func TestReasonIsToldOnce(t *testing.T) {
	f := newFixture(t, batchMax)
	fd, bound, err := Listen("tcp", "127.0.0.1:0", ListenOptions{})
	require.NoError(t, err)
	require.NoError(t, Close(fd))
	client := f.connect("tcp", bound)
	require.Equal(t, unix.ECONNREFUSED, f.connected(client))
	require.Equal(t, unix.ENOTCONN, ConnectError(client), "told already, but not connecting either")
}

// With a full queue the kernel drops the attempt's first segment, so it stays open.
func TestConnectStillTrying(t *testing.T) {
	f := newFixture(t, batchMax)
	_, bound := f.listen("tcp", "127.0.0.1:0", ListenOptions{Backlog: 1})
	require.NoError(t, f.connected(f.connect("tcp", bound)))
	require.NoError(t, f.connected(f.connect("tcp", bound)))
	require.Equal(t, ErrAgain, ConnectError(f.connect("tcp", bound)))
}

func TestConnectToFullUnixListener(t *testing.T) {
	f := newFixture(t, batchMax)
	_, bound := f.listen("unix", socketName(t, "full"), ListenOptions{Backlog: 1})
	for range 10 {
		fd, err := Connect("unix", bound)
		if err != nil {
			require.ErrorIs(t, err, ErrAgain)
			return
		}
		defer Close(fd)
	}
	t.Fatal("the queue never filled")
}

func TestConnectToItself(t *testing.T) {
	newFixture(t, batchMax)
	fd, err := socket(unix.AF_INET)
	require.NoError(t, err)
	defer Close(fd)
	require.NoError(t, unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	self, err := unix.Getsockname(fd)
	require.NoError(t, err)
	if err := unix.Connect(fd, self); err != unix.EINPROGRESS {
		require.NoError(t, err)
	}
	require.Equal(t, unix.ECONNREFUSED, ConnectError(fd))
}

func TestAddressText(t *testing.T) {
	lo, err := net.InterfaceByIndex(1)
	require.NoError(t, err)
	local := [16]byte{0: 0xfe, 1: 0x80, 15: 1}
	mapped := [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}
	for want, sa := range map[string]unix.Sockaddr{
		"10.0.0.1:80":                  &unix.SockaddrInet4{Port: 80, Addr: [4]byte{10, 0, 0, 1}},
		"[fe80::1%" + lo.Name + "]:80": &unix.SockaddrInet6{Port: 80, Addr: local, ZoneId: 1},
		"[fe80::1%4000000000]:80":      &unix.SockaddrInet6{Port: 80, Addr: local, ZoneId: 4_000_000_000},
		"10.0.0.1:81":                  &unix.SockaddrInet6{Port: 81, Addr: mapped},
		"@name":                        &unix.SockaddrUnix{Name: "@name"},
		"":                             &unix.SockaddrUnix{Name: "@"},
	} {
		require.Equal(t, want, text(sa))
	}
	for zone, want := range map[string]uint32{"": 0, "7": 7, lo.Name: 1} {
		id, err := zoneID(zone)
		require.NoError(t, err)
		require.Equal(t, want, id)
	}
}
