package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/certs"
)

// lostAfter is how long a test waits for what must happen before it fails.
const lostAfter = 30 * time.Second

func TestMain(m *testing.M) {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close() // package net has opened what it keeps open
	}
	goleak.VerifyTestMain(m)
}

// newSystem returns a system that runs until the end of the test.
func newSystem(t testing.TB) *house.System {
	sys, err := house.New(house.Config{Workers: 2, Logger: housetest.Log(t)})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
		defer cancel()
		require.NoError(t, sys.Shutdown(ctx))
		require.Zero(t, sys.Outstanding(), "pooled objects are still out")
	})
	return sys
}

// dial opens a connection of a test.
func dial(t testing.TB, network, address string) net.Conn {
	conn, err := net.Dial(network, address)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(lostAfter)))
	return conn
}

// draw returns n random bytes.
func draw(rng *rand.Rand, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	return text
}

// TestEcho: each client gets the bytes that it has sent, in pieces of any length, and then the end,
// also if it has ended its own side before. Of messages the last one is dropped if it isn't whole.
func TestEcho(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for _, length := range []int{0, 1, 100, 5000} {
			address := "127.0.0.1:0"
			if network == "unix" {
				address = filepath.Join(t.TempDir(), "socket")
			}
			address = serve(t.Context(), newSystem(t), network, address, length, nil)
			most := 1_000_000
			if length == 1 {
				most = 20_000
			}
			for seed := range uint64(4) {
				rng := rand.New(rand.NewPCG(seed, uint64(length)))
				text := draw(rng, rng.IntN(most))
				conn := dial(t, network, address)
				go func() {
					for rest := text; len(rest) > 0; {
						n := min(len(rest), 1+rng.IntN(50_000))
						if _, err := conn.Write(rest[:n]); err != nil {
							return // the reader says what is missing
						}
						rest = rest[n:]
					}
					conn.(interface{ CloseWrite() error }).CloseWrite()
				}()
				want := text
				if length > 0 {
					want = text[:len(text)/length*length]
				}
				got, err := io.ReadAll(conn)
				require.NoError(t, err, "%s, length %d, seed %d", network, length, seed)
				require.True(t, bytes.Equal(want, got), "%s, length %d, seed %d: %d bytes, want %d", network, length, seed, len(got), len(want))
			}
		}
	}
}

// TestLoad: a load generator's messages come back from both kinds of servers, and it has errors if
// the server goes.
func TestLoad(t *testing.T) {
	numbers := regexp.MustCompile(`^(\d+) messages/s over (\d+) connections, p50 [\d.]+[µm]?s, p99 [\d.]+[µm]?s; (\d+) errors: NotSent (\d+), Lost (\d+), Overloaded 0$`)
	for _, length := range []int{0, 100} {
		address := serve(t.Context(), newSystem(t), "tcp", "127.0.0.1:0", length, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		c := channel.ClientConfig[[]byte, []byte]{Network: "tcp", Address: address, Conns: 3, InflightMax: 8}
		text := load(ctx, newSystem(t), c, 100)
		m := numbers.FindStringSubmatch(text)
		require.NotNil(t, m, text)
		require.NotEqual(t, "0", m[1], text)
		require.Equal(t, []string{"4", "0", "0", "0"}, m[2:], "%s: 3 connections of 2 workers are 4", text)
	}
	server := newSystem(t)
	address := serve(t.Context(), server, "tcp", "127.0.0.1:0", 0, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	gone := time.AfterFunc(time.Second/4, func() { server.Shutdown(context.Background()) })
	defer gone.Stop()
	text := load(ctx, newSystem(t), channel.ClientConfig[[]byte, []byte]{Network: "tcp", Address: address, Conns: 2, InflightMax: 8}, 100)
	m := numbers.FindStringSubmatch(text)
	require.NotNil(t, m, text)
	require.Equal(t, "0", m[2], text)
	require.NotEqual(t, "0", m[4], text)
}

// TestLoadOverTLS: the same, secured both ways.
func TestLoadOverTLS(t *testing.T) {
	ca, err := certs.NewCA()
	require.NoError(t, err)
	cert, err := ca.Issue([]string{"127.0.0.1"})
	require.NoError(t, err)
	by := secure.New(&tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: ca.Pool(), ClientCAs: ca.Pool(), ClientAuth: tls.RequireAndVerifyClientCert})
	address := serve(t.Context(), newSystem(t), "tcp", "127.0.0.1:0", 0, by)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
	defer cancel()
	text := load(ctx, newSystem(t), channel.ClientConfig[[]byte, []byte]{Network: "tcp", Address: address, Conns: 3, InflightMax: 8, TLS: by}, 100)
	require.Regexp(t, `^[1-9].* over 4 connections, .* 0 errors: `, text)
}
