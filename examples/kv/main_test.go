package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
)

func TestOptionsAreRefused(t *testing.T) {
	require.NoError(t, options{network: "tcp"}.validate(nil))
	require.NoError(t, options{network: "unix", address: "/tmp/kv.sock", drain: time.Second}.validate(nil))
	for _, c := range []struct {
		o         options
		arguments []string
		complaint string
	}{
		{options{network: "tcp"}, []string{"6380"}, `only flags, no arguments such as "6380"`},
		{options{network: "tcp", drain: -time.Second}, nil, "-drain -1s is negative"},
		{options{network: "unix"}, nil, "-network unix needs a path"},
		{options{network: "unix", address: "/tmp/kv.sock", tlsPort: "1"}, nil, "-tls-port is for -network tcp"},
		{options{network: "tcp", tlsPort: "1"}, nil, "-tls-port needs -tls-cert and -tls-key"},
		{options{network: "tcp", files: secure.Files{CA: "ca.pem"}}, nil, "are for -tls-port"},
	} {
		require.ErrorContains(t, c.o.validate(c.arguments), c.complaint)
	}
}

// Without a password, and unless it is told otherwise, kv serves nobody but its own machine.
func TestUsualAddress(t *testing.T) {
	o := options{network: "tcp"}
	require.False(t, o.open(o.usualAddress()))
	require.Equal(t, "127.0.0.1:6380", o.usualAddress())
	o.password = "secret"
	require.Equal(t, ":6380", o.usualAddress())
}

// TestOpen: who is warned that there is no password.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		o       options
		address string
		open    bool
	}{
		{options{network: "tcp"}, "[::]:6380", true},
		{options{network: "tcp"}, "0.0.0.0:6380", true},
		{options{network: "tcp"}, "192.0.2.1:6380", true},
		{options{network: "tcp"}, "[fe80::1%eth0]:6380", true},
		{options{network: "tcp", password: "secret"}, "[::]:6380", false},
		{options{network: "tcp"}, "127.0.0.1:6380", false},
		{options{network: "tcp"}, "127.1.2.3:6380", false},
		{options{network: "tcp"}, "[::1]:6380", false},
		{options{network: "unix"}, "/tmp/kv.sock", false},
	} {
		require.Equal(t, c.open, c.o.open(c.address), "%s, password %q", c.address, c.o.password)
	}
}

func TestCollectorLimit(t *testing.T) {
	require.Zero(t, collectorLimit(0))
	require.EqualValues(t, 32<<20, collectorLimit(64<<20))
	require.EqualValues(t, 1<<30, collectorLimit(4<<30))
}
