package frame

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// answer is what a framing says of the bytes at the start of a stream.
type answer struct {
	frame string
	n     int
	err   error
	need  int // if n is 0 and err is nil
}

// kind is a framing under test, with a model that looks at all bytes each time.
type kind struct {
	name  string
	new   func() Framing
	model func(in string) answer
	bytes string // of which streams are made that try it
	keeps bool   // frames have their header
}

func kinds() []kind {
	all := []kind{
		lines("Line", Line{}, lineMax),
		lines("Line of 5", Line{Max: 5}, 5),
		lines("Line with CRLF", Line{Max: 5, CRLF: true}, 5),
		fixed(1), fixed(4),
		lengths("Length", Length{}, 4, sizedMax),
		lengths("Length of 2", Length{Width: 2, Max: 300}, 2, 300),
		lengths("Length of 1 byte, which counts itself", Length{Width: 1, Adjust: -1, Max: 6}, 1, 6),
		lengths("Length with a checksum", Length{Width: 1, Adjust: 2, Max: 6}, 1, 6),
		lengths("Length behind a type", Length{Offset: 1, Width: 2, Little: true, Max: 9}, 2, 9),
		lengths("Length with its header", Length{Offset: 1, Width: 2, Keep: true, Max: 9}, 2, 9),
		lengths("Length that counts and keeps its header", Length{Offset: 1, Width: 4, Adjust: -5, Little: true, Keep: true, Max: 12}, 4, 12),
		lengths("Length of 8", Length{Width: 8, Adjust: -8, Max: 5}, 8, 5),
		lengths("Length that no frame has", Length{Width: 1, Keep: true, Offset: 3, Max: 2}, 1, 2),
		varints("Varint", Varint{}, sizedMax),
		varints("Varint of 200", Varint{Max: 200}, 200),
	}
	for _, mark := range []string{"", "b", "ab", "aa", "aba", "aabaa", "abcab"} {
		all = append(all, delimiters(mark, 6))
	}
	return append(all, delimiters("\r\n", lineMax))
}

func lines(name string, l Line, most int) kind {
	model := func(in string) answer {
		line, _, ended := strings.Cut(in, "\n")
		text := strings.TrimSuffix(line, "\r")
		switch {
		case len(text) > most:
			return answer{err: ErrTooLong}
		case !ended:
			return answer{need: len(in) + 1}
		}
		return answer{frame: text, n: len(line) + 1}
	}
	return kind{name: name, new: func() Framing { l := l; return &l }, model: model, bytes: "a\r\n"}
}

func delimiters(mark string, most int) kind {
	d := Delimiter{Mark: []byte(mark), Max: most}
	if most == lineMax {
		d.Max = 0
	}
	name := "Delimiter " + mark
	if mark == "" {
		mark = "\x00"
	}
	model := func(in string) answer {
		text, _, ended := strings.Cut(in, mark)
		switch {
		case ended && len(text) > most:
			return answer{err: ErrTooLong}
		case ended:
			return answer{frame: text, n: len(text) + len(mark)}
		}
		for part := len(mark) - 1; part >= 0; part-- { // what may be the start of the mark
			if text, ok := strings.CutSuffix(in, mark[:part]); ok && len(text) <= most {
				return answer{need: len(text) + len(mark)}
			}
		}
		return answer{err: ErrTooLong}
	}
	return kind{name: name, new: func() Framing { d := d; return &d }, model: model, bytes: mark + "ab"}
}

func fixed(size int) kind {
	model := func(in string) answer {
		if len(in) < size {
			return answer{need: size}
		}
		return answer{frame: in[:size], n: size}
	}
	return kind{name: "Fixed", new: func() Framing { return &Fixed{Bytes: size} }, model: model, bytes: "ab"}
}

func lengths(name string, l Length, width, most int) kind {
	header := l.Offset + width
	model := func(in string) answer {
		if len(in) < header {
			return answer{need: header}
		}
		digits := []byte(in[l.Offset:header])
		if l.Little {
			slices.Reverse(digits)
		}
		size := new(big.Int).SetBytes(digits)
		size.Add(size, big.NewInt(int64(header+l.Adjust)))
		whole, limit := size.Cmp(big.NewInt(int64(header))) >= 0, big.NewInt(int64(most))
		if !l.Keep {
			limit.Add(limit, big.NewInt(int64(header)))
		}
		switch n := int(size.Int64()); {
		case size.Cmp(limit) > 0:
			return answer{err: ErrTooLong}
		case !whole:
			return answer{err: ErrLength}
		case len(in) < n:
			return answer{need: n}
		case l.Keep:
			return answer{frame: in[:n], n: n}
		default:
			return answer{frame: in[header:n], n: n}
		}
	}
	return kind{name: name, new: func() Framing { l := l; return &l }, model: model, bytes: "\x00\x00\x01\x02\x05\x07\x09\xff", keeps: l.Keep}
}

func varints(name string, v Varint, most int) kind {
	model := func(in string) answer {
		last := strings.IndexFunc(in[:min(len(in), 10)], func(r rune) bool { return r < 0x80 })
		switch {
		case last < 0 && len(in) < 10:
			return answer{need: len(in) + 1}
		case last < 0 || last > 0 && in[last] == 0:
			return answer{err: ErrLength}
		}
		size, digits := new(big.Int), last+1
		for ; last >= 0; last-- {
			size.Lsh(size, 7)
			size.Or(size, big.NewInt(int64(in[last]&0x7f)))
		}
		switch {
		case size.BitLen() > 64:
			return answer{err: ErrLength}
		case size.Cmp(big.NewInt(int64(most))) > 0:
			return answer{err: ErrTooLong}
		}
		n := digits + int(size.Int64())
		if len(in) < n {
			return answer{need: n}
		}
		return answer{frame: in[digits:n], n: n}
	}
	return kind{name: name, new: func() Framing { v := v; return &v }, model: model, bytes: "\x80\x01\x00\x02\x05\x80\x81\xff"}
}

// decoded is what comes of a stream.
type decoded struct {
	frames []string
	rest   int // bytes of it that are left
	err    error
}

// decode is what the model says of a stream.
func (k *kind) decode(stream string) (all decoded) {
	for {
		a := k.model(stream)
		if a.n == 0 {
			all.rest, all.err = len(stream), a.err
			return all
		}
		all.frames = append(all.frames, a.frame)
		stream = stream[a.n:]
	}
}

func (d decoded) equal(e decoded) bool {
	return slices.Equal(d.frames, e.frames) && d.rest == e.rest && d.err == e.err
}

// aliases reports whether frame is bytes of in, and can't grow into those behind it.
func aliases(frame, in []byte) bool {
	if cap(frame) != len(frame) {
		return false
	}
	if len(frame) == 0 {
		return true
	}
	at := bytes.IndexByte(in, frame[0])
	for ; at >= 0 && at < len(in); at++ {
		if &in[at] == &frame[0] {
			return at+len(frame) <= len(in)
		}
	}
	return false
}

func (d decoded) String() string { return fmt.Sprintf("%q, %d left, %v", d.frames, d.rest, d.err) }
