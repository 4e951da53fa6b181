package resp

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// result is what some input meant: the commands, empty ones too, then the text of
// the error that ended it; rest is how many bytes were left over.
type result struct {
	commands [][]string
	err      string
	rest     int
}

func (r result) String() string {
	return fmt.Sprintf("%q, error %q, %d left", r.commands, r.err, r.rest)
}

func (r result) equal(o result) bool {
	return slices.EqualFunc(r.commands, o.commands, slices.Equal) && r.err == o.err && r.rest == o.rest
}

// reference is the protocol written down as plainly as possible: all input at
// once, strings, no resumption.
func reference(in string, l Limits) (r result) {
	l = l.resolved()
	for in != "" {
		args, n, err := referenceOne(in[:min(len(in), l.MaxRequest)], l)
		if err == errMore {
			break
		}
		if err != nil {
			r.err = err.Error()
			break
		}
		r.commands = append(r.commands, args)
		in = in[n:]
	}
	r.rest = len(in)
	return r
}

// errMore means that the end of the request is missing.
var errMore = errors.New("more")

func referenceOne(in string, l Limits) (args []string, n int, err error) {
	if in[0] != '*' {
		line, n, err := referenceLine(in, "\n", l, ErrInlineTooBig)
		if err != nil {
			return nil, 0, err
		}
		args, ok := referenceSplit(strings.TrimSuffix(line, "\r"))
		if !ok {
			return nil, 0, ErrQuotes
		}
		return args, n, nil
	}
	line, n, err := referenceLine(in, "\r", l, ErrMultibulkCount)
	if err != nil {
		return nil, 0, err
	}
	argc, ok := referenceNumber(line[1:])
	if !ok || argc > l.MaxArgs || in[n-1] != '\n' {
		return nil, 0, ErrMultibulkLength
	}
	for range argc {
		line, size, err := referenceLine(in[n:], "\r", l, ErrBulkCount)
		if err == errMore && len(in) == l.MaxRequest {
			return nil, 0, ErrRequestTooBig
		}
		if err != nil {
			return nil, 0, err
		}
		if in[n] != '$' {
			return nil, 0, unexpected(in[n])
		}
		length, ok := referenceNumber(line[1:])
		if !ok || length < 0 || length > l.MaxBulk || in[n+size-1] != '\n' {
			return nil, 0, ErrBulkLength
		}
		n += size
		if n+length+2 > l.MaxRequest {
			return nil, 0, ErrRequestTooBig
		}
		if n+length+2 > len(in) {
			return nil, 0, errMore
		}
		if in[n+length:n+length+2] != "\r\n" {
			return nil, 0, ErrBulkLength
		}
		args = append(args, in[n:n+length])
		n += length + 2
	}
	return args, n, nil
}

// referenceLine returns a line up to its end, "\n", or "\r" and any byte.
func referenceLine(in, end string, l Limits, tooBig error) (line string, n int, err error) {
	i := strings.Index(in, end)
	if i > l.MaxInline || i < 0 && len(in) > l.MaxInline {
		return "", 0, tooBig
	}
	n = i + 1
	if end == "\r" {
		n++
	}
	if i < 0 || n > len(in) {
		if len(in) == l.MaxRequest {
			return "", 0, ErrRequestTooBig
		}
		return "", 0, errMore
	}
	return in[:i], n, nil
}

// referenceNumber accepts what Go would have written.
func referenceNumber(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && strconv.Itoa(n) == s
}

// referenceSplit takes a line apart one byte at a time.
func referenceSplit(line string) (args []string, ok bool) {
	const spaces = " \t\n\v\f\r"
	const outside, bare, single, double, closed = 0, 1, 2, 3, 4
	state, word := outside, ""
	for i := 0; i < len(line); i++ {
		c, rest := line[i], line[i:]
		space := strings.IndexByte(spaces, c) >= 0
		if state == outside && !space {
			state, word = bare, ""
		}
		switch state {
		case closed:
			if !space {
				return nil, false
			}
			state = outside
		case bare:
			switch {
			case space && c != '\v' && c != '\f':
				args, state = append(args, word), outside
			case c == '\'':
				state = single
			case c == '"':
				state = double
			default:
				word += string(rest[:1])
			}
		case single:
			switch {
			case strings.HasPrefix(rest, `\'`):
				word, i = word+"'", i+1
			case c == '\'':
				args, state = append(args, word), closed
			default:
				word += rest[:1]
			}
		case double:
			if len(rest) >= 4 && rest[:2] == `\x` {
				if n, err := strconv.ParseUint(rest[2:4], 16, 8); err == nil {
					word, i = word+string([]byte{byte(n)}), i+3
					break
				}
			}
			switch {
			case c == '\\' && len(rest) > 1:
				escaped := rest[1:2]
				if at := strings.Index("nrtba", escaped); at >= 0 {
					escaped = "\n\r\t\b\a"[at : at+1]
				}
				word, i = word+escaped, i+1
			case c == '"':
				args, state = append(args, word), closed
			default:
				word += rest[:1]
			}
		}
	}
	if state == bare {
		args = append(args, word)
	}
	return args, state != single && state != double
}
