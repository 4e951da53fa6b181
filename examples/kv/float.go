package main

import (
	"bytes"
	"math/bits"
	"strconv"
)

// extended is a number as Redis calculates with on x86, a long double with a mantissa of 64 bits:
// mant * 2^exp.
//
// Invariant: the highest bit of mant is set, or all fields are 0.
type extended struct {
	neg  bool
	mant uint64
	exp  int
}

// problem is why addFloats returns no sum.
type problem uint8

const (
	fine problem = iota
	badFirst
	badSecond
	infinite
)

// addFloats appends the sum of two numbers, with at most 17 digits behind the point and no zeros at
// the end. Short decimal numbers are added without allocation, others by addBig.
func addFloats(out, a, b []byte) ([]byte, problem) {
	x, okX := parseExtended(a)
	y, okY := parseExtended(b)
	if okX && okY {
		if sum, ok := x.plus(y).append(out); ok {
			return sum, fine
		}
	}
	return addBig(out, a, b)
}

// fivesMax is the exponent of the largest power of 5 in 64 bits.
const fivesMax = 27

var fives = func() (list [fivesMax + 1]uint64) {
	list[0] = 1
	for i := range fivesMax {
		list[i+1] = list[i] * 5
	}
	return list
}()

// parseExtended reads a decimal number of at most 19 digits, without an exponent and with at most
// 27 digits behind the point. It reports false for others.
func parseExtended(b []byte) (x extended, ok bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		x.neg = b[0] == '-'
		b = b[1:]
	}
	digits, tens, point, some := 0, 0, false, false
	for _, c := range b {
		switch {
		case c == '.' && !point:
			point = true
			continue
		case c < '0' || c > '9':
			return x, false
		}
		some = true
		if x.mant != 0 || c != '0' {
			digits++
		}
		if digits > 19 {
			return x, false
		}
		x.mant = x.mant*10 + uint64(c-'0')
		if point {
			tens--
		}
	}
	if !some || tens < -fivesMax {
		return x, false
	}
	if x.mant == 0 {
		return extended{}, true
	}
	return x.quotient(fives[-tens], tens), true
}

// quotient returns x.mant / d * 2^exp.
func (x extended) quotient(d uint64, exp int) extended {
	shift, shiftD := bits.LeadingZeros64(x.mant), bits.LeadingZeros64(d)
	m := x.mant << shift
	d <<= shiftD
	hi, lo := m, uint64(0)
	exp += shiftD - shift - 64
	if m >= d {
		hi, lo = m>>1, m<<63
		exp++
	}
	q, rest := bits.Div64(hi, lo, d)
	return extended{x.neg, q, exp}.round(rest > d-rest, rest == d-rest)
}

// round adds one to the mantissa if more than half of its last bit was cut off (more), or exactly
// half (half) and the mantissa is odd.
func (x extended) round(more, half bool) extended {
	if more || half && x.mant&1 != 0 {
		if x.mant++; x.mant == 0 {
			x.mant, x.exp = 1<<63, x.exp+1
		}
	}
	return x
}

// plus returns the sum, rounded once. Both numbers are extended to 128 bits; of the smaller
// number's bits below those one bit tells whether any was set.
func (x extended) plus(y extended) extended {
	switch {
	case x.mant == 0:
		return y
	case y.mant == 0:
		return x
	case x.exp < y.exp || x.exp == y.exp && x.mant < y.mant:
		x, y = y, x
	}
	hi, lo := shiftRight(y.mant, x.exp-y.exp)
	var carry uint64
	if x.neg == y.neg {
		hi, carry = bits.Add64(x.mant, hi, 0)
		if carry != 0 {
			lo = hi<<63 | lo>>1 | lo&1
			hi = hi>>1 | 1<<63
			x.exp++
		}
	} else {
		lo, carry = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(x.mant, hi, carry)
		if hi|lo == 0 {
			return extended{}
		}
		if hi == 0 {
			hi, lo, x.exp = lo, 0, x.exp-64
		}
		n := bits.LeadingZeros64(hi)
		hi, lo, x.exp = hi<<n|lo>>(64-n), lo<<n, x.exp-n
	}
	return extended{x.neg, hi, x.exp}.round(lo > 1<<63, lo == 1<<63)
}

// shiftRight returns m*2^64 shifted by n; its last bit is set if a set one was lost.
func shiftRight(m uint64, n int) (hi, lo uint64) {
	switch {
	case n >= 128:
		return 0, 1
	case n > 64:
		if lo = m >> (n - 64); lo<<(n-64) != m {
			lo |= 1
		}
		return 0, lo
	}
	return m >> n, m << (64 - n)
}

const (
	places   = 17
	tenToThe = 100_000_000_000_000_000 // 10^places
)

// append appends a number below 2^64 with up to 17 places. It reports false for others.
func (x extended) append(out []byte) ([]byte, bool) {
	if x.exp > 0 {
		return nil, false
	}
	whole, hi, lo := x.mant, uint64(0), uint64(0) // hi:lo is the fraction times tenToThe * 2^k
	k := -x.exp
	switch {
	case k >= 128:
		whole = 0
	case k >= 64:
		whole = 0
		hi, lo = bits.Mul64(x.mant, tenToThe)
	case k > 0:
		whole = x.mant >> k
		hi, lo = bits.Mul64(x.mant&(1<<k-1), tenToThe)
	}
	fraction := roundedShift(hi, lo, k)
	if fraction == tenToThe {
		fraction = 0
		if whole++; whole == 0 {
			return nil, false
		}
	}
	if x.neg && whole|fraction != 0 {
		out = append(out, '-')
	}
	out = strconv.AppendUint(out, whole, 10)
	if fraction == 0 {
		return out, true
	}
	start := len(out)
	out = strconv.AppendUint(out, tenToThe+fraction, 10)
	out[start] = '.' // in the place of the 1
	return bytes.TrimRight(out, "0"), true
}

// roundedShift returns hi:lo / 2^k, which is below 2^64, rounded to the nearest,
// half to even.
func roundedShift(hi, lo uint64, k int) uint64 {
	var q, rest, half uint64 // rest and half are cut to their upper 64 bits
	switch {
	case k == 0 || k >= 128:
		return 0
	case k < 64:
		q, rest, half = hi<<(64-k)|lo>>k, lo&(1<<k-1), 1<<(k-1)
	case k == 64:
		q, rest, half = hi, lo, 1<<63
	default:
		n := k - 64
		q, rest, half = hi>>n, hi&(1<<n-1), 1<<(n-1)
		if rest == half && lo != 0 {
			return q + 1
		}
	}
	if rest > half || rest == half && q&1 != 0 {
		q++
	}
	return q
}
