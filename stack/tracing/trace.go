package tracing

import (
	"encoding/hex"
	"errors"
)

// Trace says to which trace an ask belongs, as a traceparent of W3C Trace Context does. The zero
// Trace is none.
type Trace struct {
	ID    [16]byte // of the trace: trace-id
	Span  [8]byte  // in which the ask is made: parent-id
	Flags byte     // trace-flags: 1 is sampled
}

// ErrTrace: a text isn't a traceparent.
var ErrTrace = errors.New("stackhouse: not a traceparent")

const (
	traceSize = 16 + 8 + 1
	textSize  = 2 + 1 + 32 + 1 + 16 + 1 + 2 // 00-id-span-flags
)

// ParseTrace reads the value of the header traceparent. Of versions that it doesn't know it reads
// the part that all have, as the recommendation says. The error is ErrTrace.
func ParseTrace(text string) (t Trace, err error) {
	later := len(text) > textSize && text[:2] != "00" && text[textSize] == '-'
	if len(text) != textSize && !later || text[2] != '-' || text[35] != '-' || text[52] != '-' {
		return Trace{}, ErrTrace
	}
	var version, flags [1]byte
	for _, part := range []struct {
		into []byte
		text string
	}{{version[:], text[:2]}, {t.ID[:], text[3:35]}, {t.Span[:], text[36:52]}, {flags[:], text[53:55]}} {
		if !isLower(part.text) {
			return Trace{}, ErrTrace
		}
		hex.Decode(part.into, []byte(part.text))
	}
	if version[0] == 0xff || t.ID == [16]byte{} || t.Span == [8]byte{} {
		return Trace{}, ErrTrace
	}
	t.Flags = flags[0]
	return t, nil
}

// isLower reports whether all of a text are hexadecimal digits, none in upper case.
func isLower(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// IsZero reports whether t is none.
func (t Trace) IsZero() bool { return t == Trace{} }

// Append appends t as the value of the header traceparent.
func (t Trace) Append(dst []byte) []byte {
	dst = hex.AppendEncode(append(dst, "00-"...), t.ID[:])
	dst = hex.AppendEncode(append(dst, '-'), t.Span[:])
	return hex.AppendEncode(append(dst, '-'), []byte{t.Flags})
}

// String returns t as the value of the header traceparent.
func (t Trace) String() string { return string(t.Append(nil)) }
