package resp

import (
	"math"
	"strconv"
)

// scalar reads a reply of one line: mark is its first byte, text the others. ok is false if the
// reply is of another kind, or malformed.
func scalar(mark byte, text []byte) (v Value, ok bool) {
	switch mark {
	case '+':
		return Value{Kind: KindSimple, Str: text}, true
	case '-':
		return Value{Kind: KindError, Str: text}, true
	case ':':
		n, ok := ParseInt(text)
		return Value{Kind: KindInt, Int: n}, ok
	case '_':
		return Value{Kind: KindNull}, len(text) == 0
	case '#':
		switch string(text) {
		case "t":
			return Value{Kind: KindBool, Int: 1}, true
		case "f":
			return Value{Kind: KindBool}, true
		}
	case ',':
		return Value{Kind: KindDouble, Str: text}, isDouble(text)
	case '(':
		rest, ok := digits(unsigned(text))
		return Value{Kind: KindBig, Str: text}, ok && len(rest) == 0
	}
	return Value{}, false
}

// isDouble reports whether b spells a double: inf, nan, or digits, which a fraction and an exponent
// may follow.
func isDouble(b []byte) bool {
	switch string(b) {
	case "inf", "-inf", "nan", "-nan":
		return true
	}
	b, ok := digits(unsigned(b))
	if ok && len(b) > 0 && b[0] == '.' {
		b, ok = digits(b[1:])
	}
	if ok && len(b) > 0 && b[0]|0x20 == 'e' {
		b, ok = digits(unsigned(b[1:]))
	}
	return ok && len(b) == 0
}

// unsigned returns b without the sign that it begins with.
func unsigned(b []byte) []byte {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		return b[1:]
	}
	return b
}

// digits reads the decimal digits that b begins with, at least one.
func digits(b []byte) (rest []byte, ok bool) {
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	return b[n:], n > 0
}

// Float returns the number of KindDouble, and 0 for other kinds. A number beyond the range of a
// float64 becomes an infinity.
func (v *Value) Float() float64 {
	switch {
	case v.Kind != KindDouble:
		return 0
	case string(v.Str) == "-nan":
		return math.NaN()
	}
	f, _ := strconv.ParseFloat(string(v.Str), 64) // isDouble has let it pass
	return f
}
