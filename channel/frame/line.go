package frame

import "bytes"

// lineMax is the default of Line.Max and Delimiter.Max: the longest line of Redis, and of package
// bufio.
const lineMax = 64 << 10

// Line is the framing of text in lines. A line ends in "\n"; one "\r" before that isn't part of the
// line. Lines may be empty. The zero Line has the default limit.
type Line struct {
	// Max is the longest line, in bytes, without its end; at most 1 GiB. Default 64 KiB.
	Max int
	// CRLF has Append end lines with "\r\n", as most protocols of the internet want it. Default
	// "\n". Decode takes either.
	CRLF bool

	seen int // bytes of the line under way that are known to hold no '\n'
}

// Decode implements Framing. Its error is ErrTooLong.
//
//alloc:none
func (l *Line) Decode(in []byte, frame *[]byte) (n int, err error) {
	most := limit(l.Max, lineMax)
	text := in[:min(len(in), most+len("\r\n"))]
	if len(text) <= l.seen {
		return 0, nil
	}
	end := bytes.IndexByte(text[l.seen:], '\n')
	if end < 0 {
		return 0, l.wait(text, most)
	}
	end += l.seen
	l.seen, n = 0, end+1
	if end > 0 && text[end-1] == '\r' {
		end--
	}
	if end > most {
		return 0, ErrTooLong
	}
	*frame = in[:end:end]
	return n, nil
}

// wait ends a call for a line whose end hasn't come. Only a '\r' may stand beyond the limit.
func (l *Line) wait(text []byte, most int) error {
	if len(text) > most+1 || len(text) > most && text[most] != '\r' {
		l.seen = 0
		return ErrTooLong
	}
	l.seen = len(text)
	return nil
}

// Need implements Framing.
//
//alloc:none
func (l *Line) Need() int { return l.seen + 1 }

// Check implements Framing. ErrDelimiter is its error for a line break in the payload, and for a
// "\r" at its end, which the peer would take off, unless CRLF is set.
//
//alloc:none
func (l *Line) Check(payload []byte) error {
	switch size := len(payload); {
	case size > limit(l.Max, lineMax):
		return ErrTooLong
	case bytes.IndexByte(payload, '\n') >= 0 || size > 0 && payload[size-1] == '\r' && !l.CRLF:
		return ErrDelimiter
	}
	return nil
}

// Size implements Framing.
//
//alloc:none
func (l *Line) Size(payload []byte) int { return len(payload) + len("\r\n") }

// Append implements Framing.
//
//alloc:none
func (l *Line) Append(out, payload []byte) []byte {
	if err := l.Check(payload); err != nil {
		panic(err)
	}
	out = append(out, payload...)
	if l.CRLF {
		out = append(out, '\r')
	}
	return append(out, '\n')
}
