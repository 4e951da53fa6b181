package frame_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/frame"
)

var _ channel.Codec[[]byte, []byte] = &frame.Codec{}

// tell is a Fault of most protocols of lines.
func tell(out []byte, err error) []byte { return append(append(out, "ERR "...), err.Error()...) }

// encode is what a server does with a result.
func encode(t *testing.T, c channel.Codec[[]byte, []byte], rep string, err error) string {
	t.Helper()
	b := []byte(rep)
	room := make([]byte, 0, c.Size(&b, err))
	out := c.Encode(room, &b, err)
	require.LessOrEqual(t, len(out), cap(room))
	return string(out)
}

func TestCodecDecodes(t *testing.T) {
	c := &frame.Codec{Framing: &frame.Line{Max: 3}}
	var req []byte
	n, err := c.Decode([]byte("ab"), &req)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, 3, c.Need())
	n, err = c.Decode([]byte("ab\ncdef"), &req)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, "ab", string(req))
	_, err = c.Decode([]byte("cdef"), &req)
	require.ErrorIs(t, err, frame.ErrTooLong)
}

func TestCodecResults(t *testing.T) {
	c := &frame.Codec{Framing: &frame.Line{Max: 60}, Fault: tell}
	for _, test := range []struct {
		rep  string
		err  error
		want string
	}{
		{"a", nil, "a\n"},
		{"", nil, "\n"},
		{"", io.EOF, "ERR EOF\n"},
		{"", errors.New("a\nb"), "ERR frame: the payload holds the end of a frame\n"},
		{"", errors.New(strings.Repeat("x", 100)), "ERR frame: longer than the limit\n"},
		{"a\nb", nil, "ERR frame: the payload holds the end of a frame\n"},
		{strings.Repeat("x", 61), nil, "ERR frame: longer than the limit\n"},
	} {
		require.Equal(t, test.want, encode(t, c, test.rep, test.err))
	}
}

// TestCodecWithoutFault: errors leave no trace, but a reply isn't left out silently.
func TestCodecWithoutFault(t *testing.T) {
	c := &frame.Codec{Framing: &frame.Line{}}
	require.Equal(t, "a\n", encode(t, c, "a", nil))
	require.Empty(t, encode(t, c, "", io.EOF))
	require.Empty(t, c.Refuse(nil, frame.ErrTooLong))
	rep := []byte("a\nb")
	require.PanicsWithValue(t, frame.ErrDelimiter, func() { c.Size(&rep, nil) })
	require.PanicsWithValue(t, frame.ErrDelimiter, func() { c.Encode(nil, &rep, nil) })
}

// TestCodecFaultOfWrongLength: no text at all can be framed.
func TestCodecFaultOfWrongLength(t *testing.T) {
	c := &frame.Codec{Framing: &frame.Fixed{Bytes: 8}, Fault: tell}
	require.Equal(t, "ERR four", encode(t, c, "", errors.New("four")))
	require.PanicsWithValue(t, frame.ErrLength, func() { c.Encode(nil, nil, io.EOF) })
	require.Equal(t, "before", string(c.Refuse([]byte("before"), io.EOF)))
}

func TestCodecRefuses(t *testing.T) {
	c := &frame.Codec{Framing: &frame.Length{Width: 2}, Fault: tell}
	require.Equal(t, "\x00\x20ERR frame: longer than the limit", string(c.Refuse(nil, frame.ErrTooLong)))
	most := strings.Repeat("x", 1<<10-len("??ERR "))
	require.Len(t, c.Refuse(nil, errors.New(most)), 1<<10)
	require.Empty(t, c.Refuse(nil, errors.New(most+"x")))
}

func TestCodecOfClient(t *testing.T) {
	c := &frame.Codec{Framing: &frame.Varint{Max: 3}}
	req := []byte("abc")
	out := c.AppendRequest([]byte("before"), &req)
	require.Equal(t, "before\x03abc", string(out))
	require.LessOrEqual(t, len("\x03abc"), c.RequestSize(&req))
	long := []byte("abcd")
	require.PanicsWithValue(t, frame.ErrTooLong, func() { c.AppendRequest(nil, &long) })
}
