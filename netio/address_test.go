package netio

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListenAndConnect(t *testing.T) {
	six := haveIPv6(t)
	dir, name := shortDir(t), socketName(t, "x")
	for _, c := range []struct {
		network, address string
		dial, to         string // to: host, the port is the listener's; "": its address
		six              bool
		bound            string // prefix
		refused          bool
	}{
		{network: "tcp", address: "127.0.0.1:0", bound: "127.0.0.1:"},
		{network: "tcp", address: "localhost:0", bound: "127.0.0.1:"},
		{network: "tcp4", address: ":0", dial: "tcp4", to: "127.0.0.1", bound: "0.0.0.0:"},
		{network: "tcp", address: "0.0.0.0:0", to: "", bound: "0.0.0.0:"},
		{network: "tcp", address: "0.0.0.0:0", to: "::1", six: true, bound: "0.0.0.0:", refused: true},
		{network: "tcp", address: ":0", to: "127.0.0.1", six: true, bound: "[::]:"},
		{network: "tcp", address: ":0", to: "::1", six: true, bound: "[::]:"},
		{network: "tcp", address: "[::]:0", dial: "tcp6", to: "", six: true, bound: "[::]:"},
		{network: "tcp6", address: ":0", dial: "tcp6", to: "::1", six: true, bound: "[::]:"},
		{network: "tcp6", address: ":0", dial: "tcp", to: "127.0.0.1", six: true, bound: "[::]:", refused: true},
		{network: "tcp", address: "[::1]:0", six: true, bound: "[::1]:"},
		{network: "unix", address: filepath.Join(dir, "s"), bound: filepath.Join(dir, "s")},
		{network: "unix", address: name, bound: name},
	} {
		if c.six && !six {
			continue
		}
		t.Run(strings.ReplaceAll(c.network+" "+c.address+" "+c.to, "/", "_"), func(t *testing.T) {
			f := newFixture(t, batchMax)
			listener, bound := f.listen(c.network, c.address, ListenOptions{})
			require.True(t, strings.HasPrefix(bound, c.bound), bound)
			require.Equal(t, bound, LocalAddr(listener))
			require.Empty(t, RemoteAddr(listener))
			dial, to := c.dial, bound
			if dial == "" {
				dial = c.network
			}
			if c.to != "" {
				_, port, err := net.SplitHostPort(bound)
				require.NoError(t, err)
				to = net.JoinHostPort(c.to, port)
			}
			client, err := Connect(dial, to)
			require.NoError(t, err)
			defer Close(client)
			if c.refused {
				require.Equal(t, syscall.ECONNREFUSED, f.connected(client))
				return
			}
			server := f.accept(listener)
			require.NoError(t, f.connected(client))
			require.Equal(t, LocalAddr(client), RemoteAddr(server))
			require.Equal(t, LocalAddr(server), RemoteAddr(client))
			if c.network == "unix" {
				require.Empty(t, LocalAddr(client))
				require.Equal(t, bound, RemoteAddr(client))
			}
		})
	}
}

func haveIPv6(t *testing.T) bool {
	fd, _, err := Listen("tcp6", "[::1]:0", ListenOptions{})
	if err != nil {
		t.Log("no IPv6 here:", err)
		return false
	}
	require.NoError(t, Close(fd))
	return true
}

func TestListenAndConnectErrors(t *testing.T) {
	f := newFixture(t, batchMax)
	_, taken := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	for _, c := range []struct {
		network, address string
		opt              ListenOptions
		want             error
	}{
		{"udp", "127.0.0.1:0", ListenOptions{}, errNetwork},
		{"", "127.0.0.1:0", ListenOptions{}, errNetwork},
		{"unix", "", ListenOptions{}, errAddress},
		{"unix", "/no/such/folder/s", ListenOptions{}, syscall.ENOENT},
		{"unix", filepath.Join(t.TempDir(), strings.Repeat("x", 200)), ListenOptions{}, syscall.EINVAL},
		{"unix", socketName(t, "y"), ListenOptions{AckTimeout: -1}, errOptions},
		{"tcp", "127.0.0.1:0", ListenOptions{KeepAlive: -1}, errOptions},
		{"tcp", "127.0.0.1:0", ListenOptions{Backlog: -1}, errOptions},
		{"tcp", taken, ListenOptions{}, syscall.EADDRINUSE},
		{"tcp", "192.0.2.1:0", ListenOptions{}, syscall.EADDRNOTAVAIL},
	} {
		fd, bound, err := Listen(c.network, c.address, c.opt)
		require.ErrorIs(t, err, c.want, "%s %s", c.network, c.address)
		require.ErrorContains(t, err, "netio: listen "+c.network+" "+c.address)
		require.Equal(t, -1, fd)
		require.Empty(t, bound)
	}
	for _, address := range []string{"127.0.0.1", "127.0.0.1:none"} {
		_, _, err := Listen("tcp", address, ListenOptions{})
		require.Error(t, err, address)
		_, err = Connect("tcp", address)
		require.Error(t, err, address)
	}
	_, err := Connect("unix", "")
	require.ErrorIs(t, err, errAddress)
	_, err = Connect("udp", "127.0.0.1:1")
	require.ErrorIs(t, err, errNetwork)
	require.Equal(t, syscall.EBADF, ConnectError(-1))
	require.Empty(t, LocalAddr(-1))
	require.Empty(t, RemoteAddr(-1))
}

func TestStaleSocketFileIsReplaced(t *testing.T) {
	f := newFixture(t, batchMax)
	path := filepath.Join(shortDir(t), "s")
	first, _, err := Listen("unix", path, ListenOptions{})
	require.NoError(t, err)
	_, _, err = Listen("unix", path, ListenOptions{})
	require.ErrorIs(t, err, syscall.EADDRINUSE, "somebody listens")
	require.NoError(t, Close(first))
	second, _ := f.listen("unix", path, ListenOptions{})
	f.connect("unix", path)
	f.accept(second)
}

func TestOtherFilesAreNotReplaced(t *testing.T) {
	newFixture(t, batchMax)
	dir := shortDir(t)
	file, link := filepath.Join(dir, "f"), filepath.Join(dir, "l")
	require.NoError(t, os.WriteFile(file, []byte("precious"), 0o600))
	require.NoError(t, os.Symlink(file, link))
	for _, path := range []string{file, link} {
		_, _, err := Listen("unix", path, ListenOptions{})
		require.ErrorIs(t, err, syscall.EADDRINUSE)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "precious", string(text))
}

func TestConnectRefused(t *testing.T) {
	f := newFixture(t, batchMax)
	fd, bound, err := Listen("tcp", "127.0.0.1:0", ListenOptions{})
	require.NoError(t, err)
	require.NoError(t, Close(fd))
	require.Equal(t, syscall.ECONNREFUSED, f.connected(f.connect("tcp", bound)))
}
