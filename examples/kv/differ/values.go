package main

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// dice makes all random decisions.
type dice struct {
	*rand.Rand
	times int  // how many distinct times were given out
	large bool // values may be so: a connection without rights must not send such
}

// in reports true in so many of 100 cases.
func (d *dice) in(percent int) bool { return d.IntN(100) < percent }

func one[T any](d *dice, of ...T) T { return of[d.IntN(len(of))] }

// odd are keys, fields and values that trip parsers.
var odd = []string{
	"", "\x00", "a\r\nb", "\xff\xfe", "k[1]*?\\", "{k}1", " ", "nil", "-1", "\x00k1", "k1\x00", "é", strings.Repeat("long", 80),
}

// key is mostly a string's, sometimes a hash's.
func (d *dice) key() string {
	switch {
	case d.in(8):
		return one(d, odd...)
	case d.in(8):
		return d.hash()
	}
	return "k" + strconv.Itoa(d.IntN(16))
}

// hash is a key that hash commands use. Those of H and N grow large; those of N
// become a table by their number of fields alone.
func (d *dice) hash() string {
	switch {
	case d.in(4):
		return d.key()
	case d.in(35):
		return one(d, "H0", "H1", "N0", "N1")
	}
	return "h" + strconv.Itoa(d.IntN(5))
}

func (d *dice) field(hash string) string {
	switch {
	case strings.HasPrefix(hash, "N"):
		return "f" + strconv.Itoa(d.IntN(800))
	case d.in(6):
		return one(d, odd...)
	case strings.HasPrefix(hash, "H"):
		return "f" + strconv.Itoa(d.IntN(1000))
	}
	return "f" + strconv.Itoa(d.IntN(10))
}

// fieldValue is a value for a hash.
func (d *dice) fieldValue(hash string) string {
	if strings.HasPrefix(hash, "N") {
		return strconv.Itoa(d.IntN(100))
	}
	return d.value()
}

// value has the lengths at which Redis changes its ways, 44 and 64 bytes, and now and then is a
// large one.
func (d *dice) value() string {
	if d.large && d.IntN(2000) == 0 {
		return strings.Repeat("0123456789abcdef", d.IntN(20_000))
	}
	switch d.IntN(20) {
	case 0, 1, 2, 3, 4:
		return strconv.Itoa(d.IntN(200) - 50)
	case 5:
		return d.integer()
	case 6, 7:
		return d.float()
	case 8:
		return one(d, odd...)
	case 9:
		return strings.Repeat(one(d, "x", "\x00", "\n", "7"), 40+d.IntN(30))
	case 10:
		if d.in(10) {
			return strings.Repeat("0123456789", d.IntN(1500))
		}
		return strings.Repeat("ab", d.IntN(200))
	}
	return strings.Repeat(one(d, "a", "b", "foo", "1"), d.IntN(12))
}

// strange are integers at the ends of their ranges, and texts that are none.
var strange = []string{
	"9223372036854775807", "-9223372036854775808", "9223372036854775806", "-9223372036854775807", "9223372036854775808",
	"-9223372036854775809", "18446744073709551615", "4611686018427387904", "-4611686018427387904", "99999999999999999999999",
	"4294967296", "abc", "1.0", "1e3", "", " 1", "1 ", "+1", "-0", "00", "01", "-01", "0x10", "1\x00", "--1", "-", "½",
}

// integer is mostly small and sometimes strange. It is never a time: see seconds.
func (d *dice) integer() string {
	if d.in(25) {
		return one(d, strange...)
	}
	return strconv.Itoa(d.IntN(61) - 30)
}

func (d *dice) float() string {
	switch d.IntN(8) {
	case 0:
		return d.integer()
	case 1:
		return one(d, "1e10", "-2.5e-3", "5.0e3", "1E2", "inf", "-inf", "nan", "infinity", "1e308", "1e400", "1e-400", ".5", "5.", "+2.5",
			"0.1", "0.2", "-0.0", "3.14159265358979323846", "1e17", "123456789012345678", "0x1p4", "1_0", "1e", " 1.5", "1.5 ", "1,5")
	}
	return strconv.FormatFloat(float64(d.IntN(20001)-10000)/float64(one(d, 1, 2, 4, 8, 10, 100, 1000)), 'f', -1, 64)
}

// fresh is a number that no other call returns, in the 10 millions from 1 on.
func (d *dice) fresh() int {
	d.times++
	return 1 + d.times*7919%9_999_991
}

// seconds is for how long a key shall live: 100 s at least, or not at all, or nonsense.
// Two of them differ by 50 s at least, so that GT and LT know which is longer.
func (d *dice) seconds() string { return d.span(1) }

// millis is seconds in milliseconds.
func (d *dice) millis() string { return d.span(1000) }

func (d *dice) span(unit int) string {
	switch {
	case d.in(10):
		return one(d, "0", "-1", "-100", "-9223372036854775808", "9223372036854775807", "-9223372036854776", "-9223372036854775", "-922337203685477580")
	case d.in(2):
		return strconv.Itoa((9_000_000_000_000 + 50*d.fresh()) * unit) // beyond 292 years, 2^63 ns
	case d.in(5):
		return one(d, "abc", "", "1.5", " 1", "1e3", "9223372036854775808", "0x10")
	}
	return strconv.Itoa((100 + 50*d.fresh()) * unit)
}

// second is when a key shall end: from the year 2100 on, in the past, or nonsense.
func (d *dice) second() string { return d.moment(1) }

// milli is second in milliseconds.
func (d *dice) milli() string { return d.moment(1000) }

func (d *dice) moment(unit int) string {
	switch {
	case d.in(20):
		return one(d, "0", "1", "1000", "1000000000", "-1", "-9223372036854775808", "9223372036854775807", "9223372036854775", "922337203685477580")
	case d.in(5):
		return one(d, "abc", "", "1.5", " 1", "9223372036854775808")
	}
	return strconv.Itoa((4_102_444_800 + 50*d.fresh()) * unit)
}

// junk is an argument too many, or in the place of another. No command takes it for
// a time that comes within a run.
func (d *dice) junk() string {
	switch {
	case d.in(30):
		return d.key()
	case d.in(30):
		return one(d, strange...)
	}
	return one(d, "NX", "XX", "GET", "EX", "PX", "KEEPTTL", "PERSIST", "GT", "LT", "EXAT", "PXAT", "MATCH", "COUNT", "TYPE", "SYNC", "foo", "0", "-1")
}

// anyCase changes a word's letters, sometimes.
func (d *dice) anyCase(word string) string {
	switch {
	case d.in(70):
		return word
	case d.in(60):
		return strings.ToLower(word)
	}
	b := []byte(word)
	for i, c := range b {
		if d.in(50) && 'A' <= c && c <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// glob is a pattern for keys.
func (d *dice) glob() string {
	if d.in(60) {
		return one(d, "*", "k*", "h?", "[kh]1", "k[0-5]", "k[^1-3]", "*1*", "k1?", "\\k1", "K*", "", "**", "k[5-0]")
	}
	var b strings.Builder
	for range d.IntN(6) {
		b.WriteString(one(d, "*", "?", "k", "h", "1", "[", "]", "[^", "-", "\\", "[a-z]", "[1", "[^k]", "\x00", "\xff"))
	}
	return b.String()
}
