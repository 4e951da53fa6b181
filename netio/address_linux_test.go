//go:build !portable

package netio

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestShare: each of several descriptors of a listener takes connections of the one queue, until
// one is shut down.
func TestShare(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		f := newFixture(t, batchMax)
		address := "127.0.0.1:0"
		if network == "unix" {
			address = socketName(t, "shared")
		}
		first, bound := f.listen(network, address, ListenOptions{})
		second, err := Share(first)
		require.NoError(t, err)
		flags, err := unix.FcntlInt(uintptr(second), unix.F_GETFD, 0)
		require.NoError(t, err)
		require.NotZero(t, flags&unix.FD_CLOEXEC, "it goes to no child")
		for _, fd := range []int{first, second, first} {
			client := f.connect(network, bound)
			require.NoError(t, f.connected(client))
			f.accept(fd)
		}
		require.NoError(t, Shutdown(first, false))
		_, err = Accept(second)
		require.Error(t, err)
		_, err = net.Dial(network, bound)
		require.ErrorIs(t, err, unix.ECONNREFUSED)
		require.NoError(t, Close(second))
	}
}

// TestTimeoutsAreInherited: an accepted connection has what its listener was given.
func TestTimeoutsAreInherited(t *testing.T) {
	f := newFixture(t, batchMax)
	type option struct{ level, name, want int }
	inherits := func(opt ListenOptions, want ...option) {
		fd, bound := f.listen("tcp", "127.0.0.1:0", opt)
		require.NoError(t, f.connected(f.connect("tcp", bound)))
		conn := f.accept(fd)
		for _, o := range want {
			got, err := unix.GetsockoptInt(conn, o.level, o.name)
			require.NoError(t, err)
			require.Equal(t, o.want, got, "option %d", o.name)
		}
	}
	inherits(ListenOptions{KeepAlive: 1500 * time.Millisecond, AckTimeout: 7 * time.Second},
		option{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		option{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 2},
		option{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 2},
		option{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
		option{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 7000})
	inherits(ListenOptions{AckTimeout: 7 * time.Second},
		option{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 0},
		option{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 7000})
	inherits(ListenOptions{KeepAlive: time.Second},
		option{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		option{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 0})
	inherits(ListenOptions{KeepAlive: time.Millisecond}, // the system counts in seconds
		option{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		option{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 1})
}

// readiness collects what a handler is told.
type readiness struct{ all *Ready }

func (h readiness) Ready(r Ready) { *h.all |= r }

// TestUrgentData: a read ends before urgent data though there is more behind it; who polls is
// told that this may be.
func TestUrgentData(t *testing.T) {
	f := newFixture(t, batchMax)
	client, server := f.tcpPair()
	var seen Ready
	f.add(server, readiness{&seen})
	f.write(client, "before")
	require.NoError(t, unix.Sendto(client, []byte("!"), unix.MSG_OOB, nil))
	f.write(client, "behind")
	f.until(func() bool { return seen&Urgent != 0 })
	require.NotZero(t, seen&Readable)
	var got []byte
	for len(got) < len("beforebehind") {
		b := make([]byte, 100)
		n, err := Read(server, b)
		require.NoError(t, err)
		got = append(got, b[:n]...)
	}
	require.Equal(t, "beforebehind", string(got))
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
