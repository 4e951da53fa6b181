package frame

import (
	"strings"
	"testing"
)

func TestVarint(t *testing.T) {
	nine := strings.Repeat("\xff", 9)
	for _, s := range []stream{
		{in: "", need: 1},
		{in: "\x00", want: `""`, need: 1},
		{in: "\x02ab\x01", want: `"ab"`, need: 2},
		{in: "\x02a", need: 3},
		{in: "\x80", need: 2},
		{in: "\x80\x01", need: 130},
		{in: "\xff\x7f", need: 2 + 1<<14 - 1},
		{in: "\x80\x80\x40", need: 3 + 1<<20},
		{in: "\x81\x80\x40", err: ErrTooLong},
		{in: "\xff\xff\xff\xff\x0f", err: ErrTooLong},
		{in: nine + "\x01", err: ErrTooLong}, // the highest number of 64 bits
		{in: nine, need: 10},
		{in: nine + "\x02", err: ErrLength},
		{in: nine + "\x7f", err: ErrLength},
		{in: nine + "\x81", err: ErrLength},
		{in: nine + "\xff\x00", err: ErrLength},
		{in: "\x80\x00", err: ErrLength},
		{in: "\x82\x00ab", err: ErrLength},
		{in: "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", err: ErrLength},
		{in: "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", err: ErrLength}, // 2 to the 64th
	} {
		s.run(t, func() Framing { return &Varint{} })
	}
}

func TestVarintSent(t *testing.T) {
	long := strings.Repeat("x", 1<<14)
	for _, s := range []sent{
		{f: &Varint{}, payload: "", want: "\x00"},
		{f: &Varint{}, payload: "ab", want: "\x02ab"},
		{f: &Varint{}, payload: long[:127], want: "\x7f" + long[:127]},
		{f: &Varint{}, payload: long[:128], want: "\x80\x01" + long[:128]},
		{f: &Varint{}, payload: long, want: "\x80\x80\x01" + long},
		{f: &Varint{Max: 2}, payload: "ab", want: "\x02ab"},
		{f: &Varint{Max: 2}, payload: "abc", err: ErrTooLong},
	} {
		s.run(t)
	}
}
