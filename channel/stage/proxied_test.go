package stage_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/stage"
)

// placed is ends that have an address.
type placed struct {
	ends
	addr string
}

func (p *placed) RemoteAddr() string        { return p.addr }
func (p *placed) SetRemoteAddr(addr string) { p.addr = addr }

const proxyAddr = "10.0.0.7:4000"

// proxied returns a pipeline with Proxied, for who dials from addr.
func proxied(t testing.TB, addr string) (*stage.Pipeline, *placed) {
	at := &placed{addr: addr}
	l := stage.New(at, stage.Proxied(netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")))
	require.NoError(t, l.Open(1))
	return l, at
}

// header2 is a header of version 2.
func header2(command, family byte, rest ...byte) string {
	h := append([]byte("\r\n\r\n\x00\r\nQUIT\n"), command, family)
	return string(append(binary.BigEndian.AppendUint16(h, uint16(len(rest))), rest...))
}

var (
	inet4 = []byte{1, 2, 3, 4, 5, 6, 7, 8, 0x04, 0xd2, 0, 80}
	inet6 = append(append(netip.MustParseAddr("2001:db8::1").AsSlice(), netip.MustParseAddr("2001:db8::2").AsSlice()...), 0x04, 0xd2, 0, 80)
)

var headers = []struct{ name, header, addr string }{ // an empty addr: it is refused
	{"text, 4", "PROXY TCP4 1.2.3.4 5.6.7.8 1234 80\r\n", "1.2.3.4:1234"},
	{"text, 6", "PROXY TCP6 2001:db8::1 2001:db8::2 1234 80\r\n", "[2001:db8::1]:1234"},
	{"text, 4 in 6", "PROXY TCP6 ::ffff:1.2.3.4 ::ffff:5.6.7.8 1234 80\r\n", "1.2.3.4:1234"},
	{"text, longest", "PROXY TCP6 " + strings.Repeat("ffff:", 7) + "ffff " + strings.Repeat("ffff:", 7) + "ffff 65535 65535\r\n", "[" + strings.Repeat("ffff:", 7) + "ffff]:65535"},
	{"text, unknown", "PROXY UNKNOWN\r\n", proxyAddr},
	{"text, unknown, and more", "PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n", proxyAddr},
	{"text, ports of zero", "PROXY TCP4 1.2.3.4 5.6.7.8 0 0\r\n", "1.2.3.4:0"},
	{"text, 4 that is 6", "PROXY TCP4 2001:db8::1 2001:db8::2 1234 80\r\n", ""},
	{"text, 6 that is 4", "PROXY TCP6 1.2.3.4 5.6.7.8 1234 80\r\n", ""},
	{"text, a zone", "PROXY TCP6 fe80::1%eth0 fe80::2 1234 80\r\n", ""},
	{"text, another family", "PROXY UDP4 1.2.3.4 5.6.7.8 1234 80\r\n", ""},
	{"text, two spaces", "PROXY TCP4  1.2.3.4 5.6.7.8 1234 80\r\n", ""},
	{"text, a word more", "PROXY TCP4 1.2.3.4 5.6.7.8 1234 80 x\r\n", ""},
	{"text, a word less", "PROXY TCP4 1.2.3.4 5.6.7.8 1234\r\n", ""},
	{"text, no word", "PROXY \r\n", ""},
	{"text, a port too high", "PROXY TCP4 1.2.3.4 5.6.7.8 65536 80\r\n", ""},
	{"text, a port with a sign", "PROXY TCP4 1.2.3.4 5.6.7.8 +1234 80\r\n", ""},
	{"text, a port with a zero", "PROXY TCP4 1.2.3.4 5.6.7.8 01234 80\r\n", ""},
	{"text, no \\r", "PROXY TCP4 1.2.3.4 5.6.7.8 1234 80\n", ""},
	{"text, an address of zeros", "PROXY TCP4 1.2.3.04 5.6.7.8 1234 80\r\n", ""},
	{"text, too long", "PROXY UNKNOWN " + strings.Repeat("x", 93) + "\r\n", ""},
	{"text, as long as may be", "PROXY UNKNOWN " + strings.Repeat("x", 91) + "\r\n", proxyAddr},
	{"another text", "GET / HTTP/1.1\r\n\r\n", ""},
	{"nearly", "PROXIES\r\n", ""},
	{"binary, 4", header2(0x21, 0x11, inet4...), "1.2.3.4:1234"},
	{"binary, 6", header2(0x21, 0x21, inet6...), "[2001:db8::1]:1234"},
	{"binary, 4, and more", header2(0x21, 0x11, append(bytes.Clone(inet4), make([]byte, 5000)...)...), "1.2.3.4:1234"},
	{"binary, longest", header2(0x21, 0x11, append(bytes.Clone(inet4), make([]byte, 65535-12)...)...), "1.2.3.4:1234"},
	{"binary, local", header2(0x20, 0x11, inet4...), proxyAddr},
	{"binary, local, nothing", header2(0x20, 0x00), proxyAddr},
	{"binary, unspecified", header2(0x21, 0x00, 1, 2, 3), proxyAddr},
	{"binary, a path", header2(0x21, 0x31, make([]byte, 216)...), proxyAddr},
	{"binary, 4, short", header2(0x21, 0x11, inet4[:11]...), ""},
	{"binary, 6, short", header2(0x21, 0x21, inet6[:35]...), ""},
	{"binary, version 1", header2(0x11, 0x11, inet4...), ""},
	{"binary, another command", header2(0x22, 0x11, inet4...), ""},
	{"binary, another family", header2(0x21, 0x41, inet4...), ""},
	{"binary, another protocol", header2(0x21, 0x13, inet4...), ""},
	{"binary, nearly", "\r\n\r\n\x00\r\nQUIP\n", ""},
}

// TestProxied: at once, and byte by byte; what stands behind the header passes, and an error comes
// before the bytes behind it.
func TestProxied(t *testing.T) {
	for _, h := range headers {
		for _, piece := range []int{1 << 20, 1, 7} {
			l, at := proxied(t, proxyAddr)
			require.True(t, l.HoldsOpening())
			var err error
			for rest := []byte(h.header + "hello"); len(rest) > 0 && err == nil; {
				n := min(piece, len(rest))
				err = l.Receive(2, rest[:n])
				rest = rest[n:]
			}
			if h.addr == "" {
				require.Error(t, err, h.name)
				require.Empty(t, at.up, h.name)
				require.Equal(t, proxyAddr, at.addr)
				continue
			}
			require.NoError(t, err, h.name)
			require.Equal(t, h.addr, at.addr, h.name)
			require.Equal(t, "hello", string(at.up), h.name)
			require.False(t, l.HoldsOpening(), h.name)
			require.NoError(t, l.Tick(int64(time.Hour)))
			require.NoError(t, l.ReceiveEnd(3))
		}
	}
}

// TestProxiedBelievesNobodyElse: a header from who isn't listed is bytes like others.
func TestProxiedBelievesNobodyElse(t *testing.T) {
	for _, addr := range []string{"11.0.0.7:4000", "[fe00::1]:4000", "/run/x.sock", "", "10.0.0.7"} {
		l, at := proxied(t, addr)
		require.False(t, l.HoldsOpening())
		require.NoError(t, l.Receive(2, []byte(headers[0].header)))
		require.Equal(t, headers[0].header, string(at.up))
		require.Equal(t, addr, at.addr)
		require.Zero(t, l.Alarm(0))
	}
	for _, addr := range []string{"[fd00::1]:4000", "[::ffff:10.1.1.1]:4000"} {
		l, _ := proxied(t, addr)
		require.True(t, l.HoldsOpening(), addr)
	}
}

// TestProxiedInTime: a header that doesn't come, or not to its end.
func TestProxiedInTime(t *testing.T) {
	l, _ := proxied(t, proxyAddr)
	require.NoError(t, l.Receive(2, []byte("PROXY ")))
	require.EqualValues(t, 1+5*time.Second, l.Alarm(0))
	require.Error(t, l.Tick(l.Alarm(0)))

	l, _ = proxied(t, proxyAddr)
	require.NoError(t, l.Receive(2, []byte("PROXY ")))
	require.Equal(t, io.ErrUnexpectedEOF, l.ReceiveEnd(3))
}

// FuzzProxied: in pieces as at once, and nothing of a header goes up.
func FuzzProxied(f *testing.F) {
	for _, h := range headers {
		f.Add([]byte(h.header+"x"), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		whole, one := proxied(t, proxyAddr)
		err := whole.Receive(2, b)
		split, other := proxied(t, proxyAddr)
		for rest := b; len(rest) > 0; {
			n := min(max(piece, 1), len(rest))
			split.Receive(2, rest[:n])
			rest = rest[n:]
		}
		require.Equal(t, err, split.Err())
		require.Equal(t, one.up, other.up)
		require.Equal(t, one.addr, other.addr)
		require.True(t, bytes.HasSuffix(b, one.up))
		if len(one.up) > 0 {
			require.False(t, whole.HoldsOpening())
		}
	})
}
