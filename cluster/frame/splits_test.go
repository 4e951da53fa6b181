package frame

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNextSplitAtEveryByte: a frame is there once its last byte is, and not before; what follows it
// changes nothing.
func TestNextSplitAtEveryByte(t *testing.T) {
	for _, b := range samples() {
		text := b.Append(nil)
		for cut := range text {
			r, n, err := Next(text[:cut])
			require.NoError(t, err)
			require.Zero(t, n)
			require.Zero(t, r)
		}
		whole, n, err := Next(text)
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		more, n, err := Next(append(text, "more"...))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.Equal(t, whole, more)
		require.Equal(t, len(whole.Body), cap(whole.Body), "an append to the body would write into the next frame")
	}
}

// TestBadHeadsAreFoundEarly: once the byte that is wrong has come, whatever comes behind it.
func TestBadHeadsAreFoundEarly(t *testing.T) {
	for in, want := range map[string]error{
		"\x01\x00\x00": ErrLength, "\x00\xff\xfe": ErrLength, "\xff\xff\xff": ErrLength, "\x00\x00\x00": ErrLength, "\x00\x00\x01": ErrLength,
		"\x00\x00\x02\x00\x00": ErrKind, "\x00\x00\x02\x16\x00": ErrKind, "\x00\x00\x02\xff\x02": ErrKind, "\x00\x00\x02\x0d\x02": ErrKind,
		"\x00\x00\x02\x12\x00": ErrFlags, "\x00\x00\x02\x12\x03": ErrFlags, "\x00\x00\x02\x12\x0a": ErrFlags, "\x00\x00\x02\x01\x02": ErrFlags,
		"\x00\x00\x02\x01\x01": ErrFlags, "\x00\x00\x03\x11\x06": ErrFlags,
	} {
		for _, more := range []string{"", "\x00", "\x00\x00\x00\x00\x00"} {
			_, n, err := Next([]byte(in + more))
			require.Equal(t, want, err, "%q", in+more)
			require.Zero(t, n)
		}
		_, n, err := Next([]byte(in[:len(in)-1]))
		require.NoError(t, err, "%q", in)
		require.Zero(t, n)
	}
}

// TestUnknownKindsAreSkipped if they say so, in and outside the stream.
func TestUnknownKindsAreSkipped(t *testing.T) {
	for flags, outside := range map[byte]bool{0x01: false, 0x03: true, 0xff: true, 0xf1: false} {
		for _, kind := range []byte{0, kinds, 255} {
			in := []byte{0, 0, 4, kind, flags, 'a', 'b', 'c'}
			r, n, err := Next(in)
			require.NoError(t, err)
			require.Equal(t, 7, n)
			require.False(t, r.Kind.Known())
			require.Equal(t, outside, r.Outside())
			require.Equal(t, "ab", string(r.Body))
		}
	}
	require.Equal(t, "kind 22", Kind(kinds).String())
}

// TestHelloSplitAtEveryByte: it is there with its last byte; a stranger is refused at his first.
func TestHelloSplitAtEveryByte(t *testing.T) {
	text := hello.Append([]byte("before"))[len("before"):]
	for cut := range text {
		_, n, err := NextHello(text[:cut])
		require.NoError(t, err)
		require.Zero(t, n)
	}
	h, n, err := NextHello(append(text, "more"...))
	require.NoError(t, err)
	require.Equal(t, len(text), n)
	require.Equal(t, hello, h)
	for in, want := range map[string]error{
		"G": ErrMagic, "\x16\x03\x01": ErrMagic, "\xf5s": ErrMagic, "\xf5SX": ErrMagic, "\xf5SH\x00": ErrVersion, "\xf5SH\x02": ErrVersion,
		"\xf5SH\x01\x00\x00\x01": ErrLength, "\xf5SH\x01\x00\x04\x81": ErrLength, "\xf5SH\x01\x00\x00\x09\x14": ErrKind, "\xf5SH\x01\x00\x00\x09\x0d\x00": ErrFlags,
	} {
		_, n, err := NextHello([]byte(in))
		require.Equal(t, want, err, "%q", in)
		require.Zero(t, n)
	}
	_, _, err = NextHello([]byte("\xf5SH\x01\x00\x04\x80"))
	require.NoError(t, err, "the longest HELLO is waited for")
	for _, test := range []struct {
		body string
		want error
	}{
		{"\x01a\x01\x01\x00\x01\x00", nil}, {"\x00\x01\x01\x00\x01\x00", ErrRange}, {"\x01a\x01\x00\x00\x01\x00", ErrRange},
		{"\x01a\x01\x01\x01\x01\x00", ErrRange}, {"\x01a\x01\x01\x00\x41\x00", ErrRange}, {"\x01a\x01\x01\x3f\x40\x00", nil},
		{"\x01a\x01\x01\x00\x01", ErrShort}, {"\x01a\x01\x01\x00\x01\x00\x01", ErrRange}, {"\x01a\x01\x01\x00\x01\x00\x02", nil}, {"\x01a\x01\x01\x00\x01\x00\x02\x00", ErrTrailing},
		{"\x01a\x01\x01\x00\x01\x00\x03more", nil}, {"\x7fa", ErrShort}, {"\x81\x08a", ErrRange}, {"", ErrShort},
	} {
		in := append([]byte("\xf5SH\x01\x00\x00"), byte(len(test.body)+2), byte(KindHello), byte(Outside))
		_, n, err := NextHello(append(in, test.body...))
		require.Equal(t, test.want, err, "%q", test.body)
		require.Equal(t, err == nil, n > 0)
	}
}

// TestCommonVersion is the newest that both ends read, whichever is the later one.
func TestCommonVersion(t *testing.T) {
	for _, version := range []uint64{Oldest, Version, Version + 1, 1 << 63} {
		want := uint64(Version)
		if version == Oldest {
			want = Oldest
		}
		h := Hello{Name: []byte("a"), Session: 1, Tracks: 1, Version: version}
		got, n, err := NextHello(h.Append(nil))
		require.NoError(t, err)
		require.NotZero(t, n)
		require.Equal(t, version, got.Version)
		require.Equal(t, want, got.Common())
	}
}
