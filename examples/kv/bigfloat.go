package main

import (
	"bytes"
	"math/big"
	"strings"
)

// addBig is addFloats for all numbers that Redis accepts.
//
//go:noinline
func addBig(out, a, b []byte) ([]byte, problem) {
	x, infX, ok := parseBig(a)
	if !ok {
		return out, badFirst
	}
	y, infY, ok := parseBig(b)
	switch {
	case !ok:
		return out, badSecond
	case infX || infY:
		return out, infinite
	}
	sum := new(big.Float).SetPrec(64).Add(x, y)
	if sum.Sign() != 0 && sum.MantExp(nil) > exponentMax {
		return out, infinite
	}
	text := sum.Append(nil, 'f', places)
	text = bytes.TrimRight(bytes.TrimRight(text, "0"), ".")
	if string(text) == "-0" {
		text = text[1:]
	}
	return append(out, text...), fine
}

const (
	floatMax    = 5 << 10 // bytes; Redis takes only shorter numbers
	exponentMax = 16384   // of the largest long double
	exponentMin = -16445  // of the smallest
)

// parseBig reads a number as C's strtold does: decimal, hexadecimal or infinite.
func parseBig(b []byte) (x *big.Float, inf, ok bool) {
	text := string(bytes.ToLower(b))
	unsigned := text
	if text != "" && (text[0] == '-' || text[0] == '+') {
		unsigned = text[1:]
	}
	switch {
	case len(text) >= floatMax:
		return nil, false, false
	case unsigned == "inf" || unsigned == "infinity":
		return nil, true, true
	}
	if !plain(unsigned) {
		return nil, false, false
	}
	if len(unsigned) > 2 && unsigned[1] == 'x' && !bytes.ContainsAny(b, "pP") {
		text += "p0"
	}
	x, _, err := big.ParseFloat(text, 0, 64, big.ToNearestEven)
	if err != nil || x.IsInf() {
		return nil, false, false
	}
	if e := x.MantExp(nil); x.Sign() != 0 && (e > exponentMax || e < exponentMin) {
		return nil, false, false
	}
	return x, false, true
}

// plain reports whether a number has none of the forms that only Go knows, and an exponent that
// isn't too large to calculate with.
func plain(text string) bool {
	hex := len(text) > 2 && text[:2] == "0x"
	mark := byte('e')
	if strings.Contains(text, "_") {
		return false
	}
	if hex {
		text, mark = text[2:], 'p'
	} else if len(text) > 1 && text[0] == '0' && (text[1] == 'b' || text[1] == 'o') {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '.' || '0' <= c && c <= '9' || hex && 'a' <= c && c <= 'f':
		case c == mark && i > 0:
			return len(text)-i <= len("e+12345")
		default:
			return false
		}
	}
	return text != ""
}
