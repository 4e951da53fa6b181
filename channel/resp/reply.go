package resp

import (
	"math"
	"strings"
)

// Kind says what a Reply or a Value is.
type Kind uint8

const (
	KindNil      Kind = iota // the nil bulk string
	KindNilArray             // the nil array
	KindSimple               // a line of text
	KindError                // a line of text that begins with a code
	KindInt                  // an integer
	KindBulk                 // any bytes
	KindArray                // of a Value only: a Reply of an array is built as KindRaw
	KindRaw                  // of a Reply only: bytes that are encoded already
	KindPart                 // of a Reply only: the same, behind which more comes

	// Of RESP3. A Reply of a kind that RESP2 lacks is sent there as what it says.

	KindBool      // true or false
	KindDouble    // a number with a fraction
	KindVerbatim  // text for people, with its format
	KindNull      // of a Value only, as are the following: a Reply has KindNil
	KindBig       // an integer of any length
	KindBulkError // an error of any bytes
	KindMap       // pairs of a key and a value
	KindSet       // elements without an order
	KindPush      // a message that answers no request
)

// Reply is one answer. It is built without allocation and aliases what it was
// built from until it is encoded. The zero Reply is Nil, in RESP2.
type Reply struct {
	Kind Kind
	// Version says how the reply is encoded. It stands here, not in what encodes,
	// because answers to requests that came before a HELLO may be written after it.
	// The bytes of KindRaw are in a version already.
	Version Version
	Int     int64 // KindInt; KindBool: 1 or 0; KindDouble: math.Float64bits
	// KindSimple, KindError; CR and LF in it are sent as spaces. KindVerbatim: the format
	Text string
	Str  []byte // KindBulk, KindVerbatim, KindRaw
}

// OK is the answer of commands that have nothing else to say.
func OK() Reply { return Reply{Kind: KindSimple, Text: "OK"} }

// Pong is the answer to PING.
func Pong() Reply { return Reply{Kind: KindSimple, Text: "PONG"} }

// Simple is a line of text.
func Simple(text string) Reply { return Reply{Kind: KindSimple, Text: text} }

// Err is an error, sent as it is: the text begins with its code, as in "ERR syntax
// error".
func Err(text string) Reply { return Reply{Kind: KindError, Text: text} }

// Int is an integer.
func Int(n int64) Reply { return Reply{Kind: KindInt, Int: n} }

// Bulk is any bytes.
func Bulk(b []byte) Reply { return Reply{Kind: KindBulk, Str: b} }

// Nil says that there is no such value.
func Nil() Reply { return Reply{} }

// NilArray says that there is no such array.
func NilArray() Reply { return Reply{Kind: KindNilArray} }

// Bool is a truth value.
func Bool(b bool) Reply {
	r := Reply{Kind: KindBool}
	if b {
		r.Int = 1
	}
	return r
}

// Double is a number with a fraction.
func Double(f float64) Reply { return Reply{Kind: KindDouble, Int: int64(math.Float64bits(f))} }

// Verbatim is text for people to read, in a format of three letters: "txt" or "mkd".
func Verbatim(format string, text []byte) Reply {
	return Reply{Kind: KindVerbatim, Text: format, Str: text}
}

// Part is bytes written by the Append functions, sent verbatim, behind which more of the reply
// comes, or of replies that are sent together, of which these are the first n.
func Part(b []byte, n int) Reply { return Reply{Kind: KindPart, Str: b, Int: int64(n)} }

// Raw is bytes written by the Append functions, sent verbatim.
func Raw(b []byte) Reply { return Reply{Kind: KindRaw, Str: b} }

// AppendReply appends a reply in its version. It panics if its kind isn't one of a
// reply.
//
//alloc:none
func AppendReply(out []byte, r *Reply) []byte {
	switch r.Kind {
	case KindBulk:
		return AppendBulk(out, r.Str)
	case KindSimple:
		return AppendSimple(out, r.Text)
	case KindInt:
		return AppendInt(out, r.Int)
	case KindNil:
		return r.Version.AppendNil(out)
	case KindRaw, KindPart:
		return append(out, r.Str...)
	case KindError:
		return AppendError(out, r.Text)
	case KindNilArray:
		return r.Version.AppendNilArray(out)
	case KindBool:
		return r.Version.AppendBool(out, r.Int != 0)
	case KindDouble:
		return r.Version.AppendDouble(out, math.Float64frombits(uint64(r.Int)))
	case KindVerbatim:
		return r.Version.AppendVerbatim(out, r.Text, r.Str)
	}
	noReply()
	return nil
}

//go:noinline
func noReply() { panic("resp: not the kind of a reply") }

// Codec is what a channel server needs of this package, for one connection: its
// Decoder remembers the request under way. The zero Codec has the default limits.
type Codec struct{ Decoder }

// Encode appends the answer to one request: the error if there is one, otherwise
// the reply. The text of an error that has no code in front gets ERR.
//
//alloc:none
func (c *Codec) Encode(out []byte, rep *Reply, err error) []byte {
	if err != nil {
		return appendErr(out, err)
	}
	return AppendReply(out, rep)
}

//go:noinline
func appendErr(out []byte, err error) []byte {
	text := err.Error()
	if !hasCode(text) {
		text = "ERR " + text
	}
	return AppendError(out, text)
}

// hasCode reports whether text begins with a word of capitals, as do "ERR no such
// key" and "WRONGTYPE Operation against ...".
func hasCode(text string) bool {
	code, _, found := strings.Cut(text, " ")
	for _, c := range []byte(code) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return found && code != ""
}
