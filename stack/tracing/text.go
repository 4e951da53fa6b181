package tracing

import (
	"bytes"
	"errors"
)

// Text is a Context as bytes, as it crosses to other nodes: the trace, 25 bytes; then the pairs, in
// the order in which they were set, each the length of its name, one byte, and of its value, two
// with the higher one first, and both. No name comes twice. An empty Text has neither. It is never
// changed.
type Text []byte

const (
	// PairsMax is how many bytes all pairs may take: names, values, and three for each.
	PairsMax = 512
	// TextMax is how long a Text may be, bytes.
	TextMax = traceSize + PairsMax
	// nameMax is how long a name may be, bytes.
	nameMax = 255
	// pairHead is how many bytes a pair takes beside its name and its value.
	pairHead = 3
)

var (
	// ErrTooLong: pairs would take more than PairsMax bytes, or a name isn't of 1 to 255.
	ErrTooLong = errors.New("stackhouse: too long a pair for a context")
	// ErrText: bytes that are no Text.
	ErrText = errors.New("stackhouse: bytes that are no context")
)

// Check returns ErrText unless t is a Text.
func (t Text) Check() error {
	if len(t) == 0 {
		return nil
	}
	if len(t) < traceSize || len(t) > TextMax {
		return ErrText
	}
	for at := traceSize; at < len(t); {
		pairs := t[at:]
		if len(pairs) < pairHead || pairs[0] == 0 || pairSize(pairs) > len(pairs) {
			return ErrText
		}
		for earlier := t[traceSize:at]; len(earlier) > 0; earlier = earlier[pairSize(earlier):] {
			if bytes.Equal(nameOf(earlier), nameOf(pairs)) {
				return ErrText // AppendPair would leave one of them
			}
		}
		at += pairSize(pairs)
	}
	return nil
}

// pairSize returns how long the first of pairs is.
func pairSize(pairs []byte) int {
	return pairHead + int(pairs[0]) + int(pairs[1])<<8 + int(pairs[2])
}

// nameOf returns the name of the first of pairs.
func nameOf(pairs []byte) []byte { return pairs[pairHead:][:pairs[0]] }

// Trace returns the trace.
func (t Text) Trace() (tr Trace) {
	if len(t) > 0 {
		copy(tr.ID[:], t)
		copy(tr.Span[:], t[len(tr.ID):])
		tr.Flags = t[traceSize-1]
	}
	return tr
}

// Pair returns the value of a name. It aliases t; nil: t has no such pair.
func (t Text) Pair(name string) []byte {
	if at, n := t.find(name); n > 0 {
		return t[at+pairHead+len(name) : at+n : at+n]
	}
	return nil
}

// find returns where the pair of a name begins, and its length; 0: there is none.
func (t Text) find(name string) (at, n int) {
	for at = traceSize; at < len(t); at += n {
		n = pairSize(t[at:])
		if string(nameOf(t[at:])) == name {
			return at, n
		}
	}
	return at, 0
}

// AppendTrace appends t with another trace.
func (t Text) AppendTrace(dst []byte, tr Trace) []byte {
	dst = append(dst, tr.ID[:]...)
	dst = append(dst, tr.Span[:]...)
	dst = append(dst, tr.Flags)
	if len(t) > 0 {
		dst = append(dst, t[traceSize:]...)
	}
	return dst
}

// SizeWith returns how long t is with a pair more, which takes the place of the one of that name;
// with an empty value it takes it away. The error is ErrTooLong.
func (t Text) SizeWith(name, value string) (int, error) {
	size := max(len(t), traceSize)
	if _, old := t.find(name); old > 0 {
		size -= old
	}
	if len(value) > 0 {
		size += pairHead + len(name) + len(value)
	}
	if size > TextMax || len(name) == 0 || len(name) > nameMax {
		return 0, ErrTooLong
	}
	return size, nil
}

// AppendPair appends t with a pair more, for which SizeWith has found room.
func (t Text) AppendPair(dst []byte, name, value string) []byte {
	if len(t) == 0 {
		dst = append(dst, make([]byte, traceSize)...)
	} else {
		at, n := t.find(name)
		dst = append(dst, t[:at]...)
		dst = append(dst, t[at+n:]...)
	}
	if len(value) == 0 {
		return dst
	}
	dst = append(dst, byte(len(name)), byte(len(value)>>8), byte(len(value)))
	dst = append(dst, name...)
	return append(dst, value...)
}
