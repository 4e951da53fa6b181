package frame

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBadBodies: what is wrong with the fields of frames whose heads are right.
func TestBadBodies(t *testing.T) {
	nine := strings.Repeat("\xff", 9)
	long := func(n int) string { return string(appendNumber(nil, uint64(n))) + strings.Repeat("x", n) }
	for _, test := range []struct {
		kind Kind
		body string
		want error
	}{
		{KindTell, "", ErrShort}, {KindTell, "\x01", ErrShort}, {KindTell, "\x01\x80", ErrShort}, {KindTell, "\x01\x02", nil},
		{KindTell, "\x81\x00\x02", ErrNumber}, {KindTell, nine + "\x01\x02", nil}, {KindTell, nine + "\x02\x02", ErrNumber}, {KindTell, nine + "\xff\x01", ErrNumber},
		{KindTells, "\x01\x02", ErrRange}, {KindTells, "\x01\x02\x00", nil}, {KindTells, "\x01\x02\x01", ErrShort}, {KindTells, "\x01\x02\x01ab", ErrShort},
		{KindTells, "\x01\x02\x01a\x80\x00", ErrNumber}, {KindTells, "\x01\x02" + nine + "\x01", ErrRange}, {KindTells, "\x01", ErrShort},
		{KindAsk, "\x01\x02\x03\x00", ErrShort}, {KindAsk, "\x01\x02\x03\x00\x00", nil}, {KindAsk, "\x01\x02\x03" + nine[1:] + "\x7f\x00", nil},
		{KindAsk, "\x01\x02\x03" + nine + "\x01\x00", ErrRange},
		{KindAsk, "\x01\x02\x03\x00" + long(ContextMax), nil}, {KindAsk, "\x01\x02\x03\x00" + long(ContextMax+1), ErrRange},
		{KindReply, "", ErrShort}, {KindReply, "\x01", nil},
		{KindFail, "\x01\x00\x01a\x01b", nil}, {KindFail, "\x01\x00\x01a\x00", ErrRange}, {KindFail, "\x01\x01\x01a\x01b", ErrRange}, {KindFail, "\x01\x00\x00\x01ab", ErrTrailing},
		{KindFail, "\x01\x01", ErrShort}, {KindFail, "\x01\x01\x00", nil}, {KindFail, "\x01\x01" + long(TextMax), nil}, {KindFail, "\x01\x01" + long(TextMax+1), ErrRange},
		{KindFail, "\x01\x00\x00" + long(NameMax), nil}, {KindFail, "\x01\x00\x00" + long(NameMax+1), ErrRange},
		{KindCancel, "", ErrShort}, {KindCancel, "\x01\x00", ErrTrailing},
		{KindRef, "\x00\x01", ErrRange}, {KindRef, "\x01\x00", ErrRange}, {KindRef, "\x01", ErrShort}, {KindRef, "\x01\x01", nil}, {KindRef, "\x01\x01\x00", ErrTrailing},
		{KindWatch, "", ErrShort}, {KindUnwatch, "\x01\x01", ErrTrailing}, {KindResume, "\x80", ErrShort}, {KindGone, "", ErrShort}, {KindGone, "\x01\x01", ErrTrailing},
		{KindGap, "", ErrShort}, {KindGap, "\x01\x01", ErrTrailing},
		{KindCommand, "\x01", ErrShort}, {KindCommand, "\x01\x02\x03", ErrTrailing},
		{KindMethod, "\x00\x01a\x01s\x00", ErrRange}, {KindMethod, "\x01\x00\x01s\x00", ErrRange}, {KindMethod, "\x01\x01a\x00\x01s", ErrRange},
		{KindMethod, "\x01\x01a\x01s", ErrShort}, {KindMethod, "\x01\x01a\x01s\x00", nil}, {KindMethod, "\x01\x01a\x01s\x01sx", ErrTrailing},
		{KindMethod, "\x01\x01a" + long(SchemaMax) + long(SchemaMax), nil}, {KindMethod, "\x01\x01a" + long(SchemaMax+1) + "\x00", ErrRange},
		{KindMethod, "\x01" + long(NameMax+1) + "\x01s\x00", ErrRange}, {KindMethod, "\x01\x01a\x01s" + long(SchemaMax+1), ErrRange},
		{KindHold, "", ErrShort}, {KindResume, "\x01\x01", ErrTrailing},
		{KindPart, "\x01\x81\x80\x04\x00", ErrRange}, {KindPart, "\x01\x81\x80\x04\x00a", nil}, {KindPart, "\x01\x80\x80\x04\x00a", ErrRange},
		{KindPart, "\x01\x81\x80\x04\x80\x80\x04a", nil}, {KindPart, "\x01\x81\x80\x04\x80\x80\x04ab", ErrRange}, {KindPart, "\x01\x81\x80\x04\x81\x80\x04a", ErrRange},
		{KindPart, "\x01\x80\x80\x80\x08\x00a", nil}, {KindPart, "\x01\x81\x80\x80\x08\x00a", ErrRange}, {KindPart, "\x01\x81\x80\x04" + nine + "\x01a", ErrRange},
		{KindPart, "\x01\x80\x80\x08\x00" + strings.Repeat("x", PieceMax), nil}, {KindPart, "\x01\x80\x80\x08\x00" + strings.Repeat("x", PieceMax+1), ErrRange},
		{KindPacked, "\x80\x80\x04" + long(4096), ErrRange}, {KindPacked, "\x81\x80\x04" + long(4097), nil}, {KindPacked, "\x81\x80\x04" + long(4096), ErrRange},
		{KindPacked, "\x81\x80\x04" + long(4096) + "\x00", nil}, {KindPacked, "\x81\x80\x04" + long(4096) + "\x01", ErrRange}, {KindPacked, "\x81\x80\x04" + long(4096) + "\x00\x00", ErrRange},
		{KindPacked, "\x90\x80\x04" + long(4097), nil}, {KindPacked, "\x90\x80\x04" + long(4097) + "\x00", ErrRange}, {KindPacked, "\x91\x80\x04" + long(4097), ErrRange},
		{KindPacked, "\x81\x80\x80\x08" + long(5000), ErrRange}, {KindPacked, "\x81\x80\x04", ErrShort}, {KindPacked, "\x81\x80\x04\x05abcd", ErrShort}, {KindPacked, "", ErrShort},
		{KindAck, "", ErrShort}, {KindAck, "\x01\x01", ErrTrailing}, {KindPing, "\x00", ErrTrailing}, {KindBye, "\x01", ErrShort}, {KindBye, "\x01\x00\x00", ErrTrailing},
		{KindBye, "\x01" + long(TextMax+1), ErrRange},
	} {
		in := closed(append(open(nil, test.kind, test.kind.flags()), test.body...), 0)
		r, n, err := Next(in)
		require.NoError(t, err)
		require.Equal(t, len(in), n)
		b := makers[test.kind]()
		require.Equal(t, test.want, b.Read(r), "%s %.40q", test.kind, test.body)
		if test.want == nil {
			require.Equal(t, in, b.Append(nil), "%s %.40q", test.kind, test.body)
		}
	}
}

// TestFieldsAfterAnError are zero, and so is the one that is wrong.
func TestFieldsAfterAnError(t *testing.T) {
	for in, want := range map[string]error{"": ErrShort, "\x80": ErrShort, "\x81\x00": ErrNumber, "\x09": ErrRange, "\x00more": ErrRange} {
		f := fields{in: []byte(in)}
		require.Zero(t, f.between(1, 8), "%q", in)
		require.Zero(t, f.number())
		require.Nil(t, f.bytes(1))
		require.Nil(t, f.rest())
		require.Equal(t, want, f.end(), "%q", in)
	}
}

// TestAppendRefuses what no caller may send, at the limit and beyond it.
func TestAppendRefuses(t *testing.T) {
	name, longName := make([]byte, NameMax), make([]byte, NameMax+1)
	for _, b := range []body{
		&Tells{}, &Ask{Context: longName[:ContextMax+1]}, &Ask{Remaining: math.MaxInt64 + 1}, &Fail{Code: 1, Name: []byte("a")}, &Fail{Name: longName},
		&Ref{Serial: 1}, &Ref{Number: 1},
		&Part{Total: FrameMax, Piece: name}, &Part{Total: LongMax + 1, Piece: name}, &Part{Total: LongMax}, &Part{Total: LongMax, At: LongMax - NameMax + 1, Piece: name},
		&Part{Total: LongMax, Piece: make([]byte, PieceMax+1)}, &Tell{Message: make([]byte, LongMax-head-1)},
		&Packed{Total: FrameMax}, &Packed{Total: LongMax + 1},
		&Method{Name: name, Request: name}, &Method{Number: 1, Request: name}, &Method{Number: 1, Name: name},
		&Method{Number: 1, Name: longName, Request: name}, &Method{Number: 1, Name: name, Request: make([]byte, SchemaMax+1)},
		&Method{Number: 1, Name: name, Request: name, Reply: make([]byte, SchemaMax+1)},
	} {
		require.Panics(t, func() { b.Append(nil) }, "%T", b)
	}
	for _, b := range []body{
		&Ask{Context: name[:ContextMax]}, &Fail{Name: name},
		&Part{Number: math.MaxUint64, Total: LongMax, At: LongMax - PieceMax, Piece: make([]byte, PieceMax)},
	} {
		all, err := read(b.Append(nil))
		require.NoError(t, err)
		require.Len(t, all, 1)
	}
	for _, h := range []Hello{
		{Session: 1, Tracks: 1}, {Name: longName, Session: 1, Tracks: 1}, {Name: name, Tracks: 1}, {Name: name, Session: 1}, {Name: name, Session: 1, Track: 1, Tracks: 1},
		{Name: name, Session: 1, Tracks: TracksMax + 1},
	} {
		require.Panics(t, func() { h.Append(nil) })
	}
	longest := Hello{name, math.MaxUint64, math.MaxUint64, TracksMax - 1, TracksMax, math.MaxUint64, math.MaxUint64}
	require.LessOrEqual(t, len(longest.Append(nil)), helloMax+len(magic)+1)
	require.Panics(t, func() { (&Tell{}).Read(Raw{Kind: KindTells}) })
	require.Panics(t, func() { (&Tells{Messages: []byte("\x05a")}).Take() })
}

// TestPackedLen: it is never too short, nor much too long.
func TestPackedLen(t *testing.T) {
	for _, text := range []int{0, 1, 4096, 4097, FrameMax, LongMax / 2} {
		for _, total := range []uint64{FrameMax + 1, LongMax} {
			p := Packed{Total: total, Text: make([]byte, text)}
			n := len(p.Append(nil))
			require.LessOrEqual(t, n, p.Len())
			require.Greater(t, n, p.Len()-2*numberMax)
		}
	}
}

// TestReadLeavesNothing of a frame that was read into the same struct before.
func TestReadLeavesNothing(t *testing.T) {
	for _, before := range samples() {
		for _, b := range samples() {
			first, _, err := Next(before.Append(nil))
			require.NoError(t, err)
			r, _, err := Next(b.Append(nil))
			require.NoError(t, err)
			if first.Kind != r.Kind {
				continue
			}
			used, fresh := makers[r.Kind](), makers[r.Kind]()
			require.NoError(t, used.Read(first))
			require.NoError(t, used.Read(r))
			require.NoError(t, fresh.Read(r))
			require.Equal(t, fresh, used)
		}
	}
}

// TestTextsAreCut rather than refused: others have written them.
func TestTextsAreCut(t *testing.T) {
	text := []byte(strings.Repeat("x", TextMax+1))
	for _, b := range []body{&Fail{Text: text}, &Bye{Text: text}} {
		all, err := read(b.Append(nil))
		require.NoError(t, err)
		require.Contains(t, all[0], `"`+strings.Repeat("x", TextMax)+`"`)
	}
}

// TestEnvelope: a TELLS gives its messages in their order, and changes none of them.
func TestEnvelope(t *testing.T) {
	var messages []byte
	for _, m := range []string{"first", "", "third"} {
		messages = AppendMessage(messages, []byte(m))
	}
	r, _, err := Next((&Tells{To: 1, Method: 2, Messages: messages}).Append(nil))
	require.NoError(t, err)
	var e Tells
	require.NoError(t, e.Read(r))
	var got []string
	for m, ok := e.Take(); ok; m, ok = e.Take() {
		got = append(got, string(m))
	}
	require.Equal(t, []string{"first", "", "third"}, got)
}

// TestLong takes a frame of more than FrameMax apart, and together.
func TestLong(t *testing.T) {
	message := []byte(strings.Repeat("0123456789", 30_000))
	long := (&Tell{To: 1, Method: 2, Message: message}).Append(nil)
	_, _, err := Next(long)
	require.Equal(t, ErrLength, err)
	var stream []byte
	for at := 0; at < len(long); at += PieceMax {
		p := Part{Number: 5, Total: uint64(len(long)), At: uint64(at), Piece: long[at:min(at+PieceMax, len(long))]}
		stream = p.Append(stream)
	}
	var together []byte
	for len(stream) > 0 {
		r, n, err := Next(stream)
		require.NoError(t, err)
		var p Part
		require.NoError(t, p.Read(r))
		require.EqualValues(t, len(together), p.At)
		together = append(together, p.Piece...)
		stream = stream[n:]
		require.Equal(t, len(stream) == 0, p.Last())
	}
	r, err := Long(together)
	require.NoError(t, err)
	var tell Tell
	require.NoError(t, tell.Read(r))
	require.Equal(t, message, tell.Message)

	_, err = Long(together[:len(together)-1])
	require.Equal(t, ErrShort, err)
	_, err = Long(append(together, 0))
	require.Equal(t, ErrTrailing, err)
	_, err = Long((&Ping{}).Append(nil))
	require.Equal(t, ErrKind, err)
	_, err = Long((&Part{Total: LongMax, Piece: message[:1]}).Append(nil))
	require.Equal(t, ErrKind, err)
	_, err = Long([]byte("\xff\xff\xfe\x01\x00"))
	require.Equal(t, ErrLength, err)
	require.Equal(t, LongMax, Len((&Tell{Message: make([]byte, LongMax-head-2)}).Append(nil)))
}

// TestHeadOfTheLongest: a message that HeadMax leaves room for fits in a frame, whatever comes with
// it.
func TestHeadOfTheLongest(t *testing.T) {
	text := make([]byte, LongMax-HeadMax)
	const most = math.MaxUint64
	for _, f := range []interface{ Append([]byte) []byte }{
		&Tell{To: most, Method: most, Message: text},
		&Ask{Slot: most, To: most, Method: most, Remaining: math.MaxInt64, Context: make([]byte, ContextMax), Message: text},
		&Reply{Slot: most, Message: text},
	} {
		got, err := Long(f.Append(nil))
		require.NoError(t, err)
		require.Greater(t, len(got.Body), len(text))
	}
}
