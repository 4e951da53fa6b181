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
	KindPart                 // of a Reply only: like KindRaw, but a part, see Part

	// Kinds of RESP3. In RESP2 a Reply of these is sent as the methods of Version say.

	KindBool      // true or false
	KindDouble    // a number with a fraction
	KindVerbatim  // text for people, with its format
	KindNull      // of a Value only, as the kinds below: a Reply has KindNil
	KindBig       // an integer of any length
	KindBulkError // an error of any bytes
	KindMap       // pairs of a key and a value
	KindSet       // elements without an order
	KindPush      // a message that answers no request
)

// Reply is one answer. It is built without allocation and aliases the bytes and texts that it was
// built from, which must stay unchanged until it is encoded. The zero Reply is Nil, in RESP2.
type Reply struct {
	Kind Kind
	// Version says how the reply is encoded. It is a field of the reply, not of the encoder,
	// because answers to requests before a HELLO may be written after it. The bytes of KindRaw and
	// KindPart are encoded already.
	Version Version
	Int     int64 // KindInt; KindBool: 1 or 0; KindDouble: math.Float64bits; KindPart: n
	// KindSimple, KindError; CR and LF in it are sent as spaces. KindVerbatim: the format
	Text string
	Str  []byte // KindBulk, KindVerbatim, KindRaw, KindPart
}

// OK is the answer of commands that have no other result.
func OK() Reply { return Reply{Kind: KindSimple, Text: "OK"} }

// Pong is the answer to PING.
func Pong() Reply { return Reply{Kind: KindSimple, Text: "PONG"} }

// Simple is a line of text.
func Simple(text string) Reply { return Reply{Kind: KindSimple, Text: text} }

// Err is an error. Its text is sent as it is and begins with a code, as in "ERR syntax error".
func Err(text string) Reply { return Reply{Kind: KindError, Text: text} }

// Int is an integer.
func Int(n int64) Reply { return Reply{Kind: KindInt, Int: n} }

// Bulk is a string of any bytes.
func Bulk(b []byte) Reply { return Reply{Kind: KindBulk, Str: b} }

// Nil is the answer where there is no value.
func Nil() Reply { return Reply{} }

// NilArray is the answer where there is no array.
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

// Part is bytes written by the Append functions, sent verbatim, which aren't all of the answer:
// more bytes of it follow in another reply. If the answer is that of several requests, b completes
// the first n of their replies.
func Part(b []byte, n int) Reply { return Reply{Kind: KindPart, Str: b, Int: int64(n)} }

// Raw is bytes written by the Append functions, sent verbatim.
func Raw(b []byte) Reply { return Reply{Kind: KindRaw, Str: b} }

// AppendReply appends a reply in its version. It panics if the Kind is that of a Value only.
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

// Codec is the part of a channel.Codec that this package can give, for one connection: Need, Decode
// and Encode. Its Decoder remembers the request under way. The zero Codec has the default limits.
type Codec struct{ Decoder }

// Encode appends the answer to one request: err if there is one, otherwise the reply. If the text
// of err doesn't begin with a code it gets ERR.
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

// hasCode reports whether text begins with a word of capitals and a space, as do "ERR no such key"
// and "WRONGTYPE Operation against ...".
func hasCode(text string) bool {
	code, _, found := strings.Cut(text, " ")
	for _, c := range []byte(code) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return found && code != ""
}
