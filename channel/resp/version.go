package resp

import "strconv"

// Version is the version of the protocol that a connection speaks. Its methods append values for
// which RESP3 has a type of its own; in RESP2 they use another type. The zero Version is V2.
type Version uint8

const (
	V2 Version = 2 // the version of a new connection
	V3 Version = 3 // after HELLO 3
)

// AppendNil appends that there is no value: "_" in RESP3, the nil bulk string in RESP2.
//
//alloc:none
func (v Version) AppendNil(out []byte) []byte {
	if v < V3 {
		return AppendNil(out)
	}
	return append(out, "_\r\n"...)
}

// AppendNilArray appends that there is no array: "_" in RESP3, the nil array in RESP2.
//
//alloc:none
func (v Version) AppendNilArray(out []byte) []byte {
	if v < V3 {
		return AppendNilArray(out)
	}
	return append(out, "_\r\n"...)
}

// AppendMap begins a map of n pairs, in RESP2 an array. The caller appends 2*n elements next, each
// key before its value.
//
//alloc:none
func (v Version) AppendMap(out []byte, n int) []byte {
	if v < V3 {
		return AppendArray(out, 2*n)
	}
	return appendNumber(out, '%', int64(n))
}

// AppendSet begins a set of n elements, in RESP2 an array. The caller appends them next.
//
//alloc:none
func (v Version) AppendSet(out []byte, n int) []byte { return v.appendHeader(out, '~', n) }

// AppendPush begins a message of n elements that answers no request, in RESP2 an array. The caller
// appends them next.
//
//alloc:none
func (v Version) AppendPush(out []byte, n int) []byte { return v.appendHeader(out, '>', n) }

func (v Version) appendHeader(out []byte, mark byte, n int) []byte {
	if v < V3 {
		mark = '*'
	}
	return appendNumber(out, mark, int64(n))
}

// AppendBool appends a truth value, in RESP2 the integer 1 or 0.
//
//alloc:none
func (v Version) AppendBool(out []byte, b bool) []byte {
	switch {
	case v < V3 && b:
		return append(out, ":1\r\n"...)
	case v < V3:
		return append(out, ":0\r\n"...)
	case b:
		return append(out, "#t\r\n"...)
	}
	return append(out, "#f\r\n"...)
}

// AppendDouble appends a number with up to 17 digits, as Redis 7.0 does; in RESP2 as a bulk string.
//
//alloc:none
func (v Version) AppendDouble(out []byte, f float64) []byte {
	var room [doubleMax]byte
	text := appendFloat(room[:0], f)
	if v < V3 {
		return AppendBulk(out, text)
	}
	out = append(append(out, ','), text...)
	return append(out, '\r', '\n')
}

// doubleMax is the length of the longest double in our spelling.
const doubleMax = len("-2.2250738585072014e-308")

func appendFloat(out []byte, f float64) []byte {
	switch {
	case f != f:
		return append(out, "nan"...)
	case f-f != 0 && f > 0:
		return append(out, "inf"...)
	case f-f != 0:
		return append(out, "-inf"...)
	}
	return strconv.AppendFloat(out, f, 'g', 17, 64)
}

// AppendBig appends an integer of any length, given as its digits; in RESP2 as a bulk string.
//
//alloc:none
func (v Version) AppendBig(out []byte, digits string) []byte {
	if v < V3 {
		return AppendBulkString(out, digits)
	}
	return appendText(append(out, '('), digits)
}

// AppendVerbatim appends text for people to read, in RESP2 as a bulk string. The format must have
// three letters, such as "txt" or "mkd"; otherwise it panics.
//
//alloc:none
func (v Version) AppendVerbatim(out []byte, format string, text []byte) []byte {
	if len(format) != formatLen {
		noFormat()
	}
	if v < V3 {
		return AppendBulk(out, text)
	}
	out = appendNumber(out, '=', int64(formatLen+1+len(text)))
	out = append(append(out, format...), ':')
	out = append(out, text...)
	return append(out, '\r', '\n')
}

// formatLen is the length of a verbatim string's format.
const formatLen = 3

//go:noinline
func noFormat() { panic("resp: a format must have three letters") }
