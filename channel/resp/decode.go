package resp

import (
	"bytes"
	"math"
)

// Decoder reads the requests of one connection. It remembers how far it has read a request whose
// end is still missing, so that each byte of a request is looked at about once, however small the
// pieces that come in. It holds no input.
//
// The zero Decoder has the default limits.
type Decoder struct {
	limits Limits // resolved, unless MaxRequest is 0

	// The request under way; all zero between requests.
	off  int // where the next length line of the request begins
	argc int // arguments announced; 0 before its header was read
	done int // arguments read. Invariant: done <= argc
	seen int // bytes of the line at off that are known not to end it
	need int // with fewer bytes Decode decides nothing. Invariant: need > off, if not 0
}

// NewDecoder returns a Decoder with the limits l. It panics if one is out of range.
func NewDecoder(l Limits) Decoder { return Decoder{limits: l.resolved()} }

// Need returns how many bytes the input must have in total before another call of Decode can return
// a request or an error. It is at least 1 and never above Limits.MaxRequest.
//
//alloc:none
func (d *Decoder) Need() int { return max(d.need, 1) }

// Reset forgets the request under way: the next input begins a new one.
func (d *Decoder) Reset() { *d = Decoder{limits: d.limits} }

// Decode reads the request at the start of in.
//
//	n > 0             the request is in cmd and took n bytes, which the caller removes before the
//	                  next call. It may be empty
//	n == 0, err nil   the end of the request is missing: the next call must get the same bytes,
//	                  anywhere in memory, and more behind them
//	err               a protocol error. The Decoder is reset, but there is no way to find where
//	                  the next request begins
//
// cmd is filled only if n > 0; each call may get another one.
//
//alloc:none
func (d *Decoder) Decode(in []byte, cmd *Command) (n int, err error) {
	cmd.argc = 0
	if len(in) < d.Need() {
		return 0, nil
	}
	if d.limits.MaxRequest == 0 {
		d.limits = d.limits.resolved()
	}
	if len(in) > d.limits.MaxRequest {
		in = in[:d.limits.MaxRequest] // a request that is longer is refused by wait
	}
	off, argc, done := d.off, d.argc, d.done
	if argc == 0 {
		if in[0] != '*' {
			return d.inline(in, cmd)
		}
		argc, off = length(in, 0, '*')
		if argc == 0 || argc > d.limits.MaxArgs {
			return d.header(in, cmd)
		}
	}
	for ; done < argc; done++ {
		size, from := length(in, off, '$')
		if from == 0 || size > d.limits.MaxBulk || size > len(in)-from-crlf {
			return d.stall(in, off, argc, done)
		}
		to := from + size
		if in[to] != '\r' || in[to+1] != '\n' {
			return d.stall(in, off, argc, done)
		}
		if done < cached {
			cmd.at[done] = span{uint32(from), uint32(to)}
		}
		off = to + crlf
	}
	cmd.raw, cmd.argc, cmd.inline = in[:off:off], argc, false
	if d.need != 0 {
		cmd.index() // earlier calls may have had another cmd
		d.Reset()
	}
	return off, nil
}

// length reads a length line: the mark, digits, CR LF. next is the offset behind it. next is 0 if
// the line isn't complete or isn't well formed, and if no byte has come yet behind a line of one
// digit: that decides nothing yet. Nearly all lengths have one digit or two.
func length(in []byte, off int, mark byte) (size, next int) {
	if len(in)-off < len("$10\r\n") {
		return 0, 0
	}
	line := in[off : off+5]
	high, low := int(line[1]-'0'), int(line[2]-'0')
	switch {
	case line[0] != mark || high > 9:
		return 0, 0
	case line[2] == '\r' && line[3] == '\n':
		return high, off + 4
	case high != 0 && low <= 9 && line[3] == '\r' && line[4] == '\n':
		return high*10 + low, off + 5
	}
	return longLength(in, off+1)
}

// longLength reads a length of two to ten digits; ten are enough for any limit and can't overflow.
func longLength(in []byte, off int) (size, next int) {
	if in[off] == '0' {
		return 0, 0
	}
	var n uint64
	for i, c := range in[off:min(len(in), off+len("4294967296\r"))] {
		if c -= '0'; c <= 9 {
			n = n*10 + uint64(c)
			continue
		}
		next = off + i + crlf
		if next > len(in) || in[next-2] != '\r' || in[next-1] != '\n' || n > math.MaxInt32 {
			return 0, 0
		}
		return int(n), next
	}
	return 0, 0
}

// header deals with a first line that isn't complete, or doesn't announce a number of arguments
// from 1 to the limit.
//
//go:noinline
func (d *Decoder) header(in []byte, cmd *Command) (int, error) {
	end, err := d.line(in, ErrMultibulkCount)
	if end == 0 || err != nil {
		return 0, err
	}
	argc, ok := ParseInt(in[1:end])
	if !ok || argc > int64(d.limits.MaxArgs) || in[end+1] != '\n' {
		return d.fail(ErrMultibulkLength)
	}
	if argc > 0 {
		return d.wait(int64(end+crlf) + 1) // see length
	}
	d.Reset()
	*cmd = Command{raw: in[: end+crlf : end+crlf]}
	return end + crlf, nil
}

// stall deals with the argument at off if it isn't complete, isn't well formed or is too long.
//
//go:noinline
func (d *Decoder) stall(in []byte, off, argc, done int) (int, error) {
	if d.off != off {
		d.seen = 0
	}
	d.off, d.argc, d.done = off, argc, done
	end, err := d.line(in, ErrBulkCount)
	if end == 0 || err != nil {
		return 0, err
	}
	if in[off] != '$' {
		return d.fail(unexpected(in[off]))
	}
	size, ok := ParseInt(in[off+1 : end])
	if !ok || size < 0 || size > int64(d.limits.MaxBulk) || in[end+1] != '\n' {
		return d.fail(ErrBulkLength)
	}
	need := int64(end) + size + 2*int64(crlf)
	if need <= int64(len(in)) {
		return d.fail(ErrBulkLength) // something else than CR LF behind the argument
	}
	return d.wait(need)
}

// line returns where the CR of the length line at d.off is, once a byte behind it has come too.
// Until then it returns 0.
func (d *Decoder) line(in []byte, tooBig error) (end int, err error) {
	text := d.window(in[d.off:])
	cr := bytes.IndexByte(text[d.seen:], '\r')
	if cr < 0 {
		if len(text) > d.limits.MaxInline {
			return d.fail(tooBig)
		}
		d.seen = len(text)
		return d.wait(int64(len(in)) + 1)
	}
	d.seen += cr
	if end = d.off + d.seen; end+1 == len(in) {
		return d.wait(int64(len(in)) + 1)
	}
	return end, nil
}

// window returns the bytes of text in which a line that begins there must end. If it returns more
// than MaxInline bytes and the line doesn't end in them, the line is too long.
func (d *Decoder) window(text []byte) []byte {
	if len(text) > d.limits.MaxInline {
		return text[:d.limits.MaxInline+1]
	}
	return text
}

// wait ends a call that needs more input: need bytes in total.
func (d *Decoder) wait(need int64) (int, error) {
	if need > int64(d.limits.MaxRequest) {
		return d.fail(ErrRequestTooBig)
	}
	d.need = int(need)
	return 0, nil
}

// fail ends a call with a protocol error.
func (d *Decoder) fail(err error) (int, error) {
	d.Reset()
	return 0, err
}

// ParseInt reads a decimal integer in the only spelling that Redis accepts: no sign but '-', no
// leading zeros, no blanks. It reports false for any other text, and beyond the range of int64.
//
//alloc:none
func ParseInt(b []byte) (int64, bool) {
	digits := b
	if len(b) > 1 && b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > len("9223372036854775808") {
		return 0, false
	}
	if digits[0] == '0' {
		return 0, len(b) == 1
	}
	var n uint64 // which 19 digits never overflow
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	if len(digits) < len(b) {
		return -int64(n), n <= 1<<63
	}
	return int64(n), n < 1<<63
}
