package resp

import (
	"regexp"
	"strconv"
	"strings"
)

// shapes are the texts of replies that are one line.
var shapes = map[byte]*regexp.Regexp{
	'+': regexp.MustCompile(`(?s)^.*$`),
	'-': regexp.MustCompile(`(?s)^.*$`),
	':': regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`),
	'_': regexp.MustCompile(`^$`),
	'#': regexp.MustCompile(`^[tf]$`),
	',': regexp.MustCompile(`^(-?(inf|nan)|[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)$`),
	'(': regexp.MustCompile(`^[-+]?[0-9]+$`),
}

// referenceValue is DecodeReply written down as plainly as possible: want is the text
// of the value.
func referenceValue(in string, l Limits, depth int) (want string, n int, err error) {
	if in == "" {
		return "", 0, nil
	}
	mark := in[0]
	if !strings.ContainsRune("+-:$*_#,(=!%~|>", rune(mark)) {
		return "", 0, ErrReply
	}
	line, _, found := strings.Cut(in, "\r")
	switch {
	case len(line) > l.MaxInline:
		return "", 0, ErrReplyLimit
	case !found || len(in) == len(line)+1:
		return "", 0, nil
	case in[len(line)+1] != '\n':
		return "", 0, ErrReply
	}
	n = len(line) + 2
	line = line[1:]
	if shape, ok := shapes[mark]; ok {
		if !shape.MatchString(line) {
			return "", 0, ErrReply
		}
		switch mark {
		case ':':
			if _, err := strconv.ParseInt(line, 10, 64); err != nil {
				return "", 0, ErrReply
			}
			return line, n, nil
		case '_':
			return "null", n, nil
		case '#':
			return strconv.FormatBool(line == "t"), n, nil
		}
		return string(mark) + line, n, nil
	}
	size, ok := referenceNumber(line)
	switch {
	case ok && size == -1 && mark == '$':
		return "nil", n, nil
	case ok && size == -1 && mark == '*':
		return "nil array", n, nil
	case !ok || size < 0 || mark == '>' && depth > 0:
		return "", 0, ErrReply
	}
	if mark == '$' || mark == '=' || mark == '!' {
		return referenceBulk(mark, in, n, size, l)
	}
	return referenceMany(mark, in, n, size, l, depth)
}

func referenceBulk(mark byte, in string, n, size int, l Limits) (string, int, error) {
	end := n + size + 2
	switch {
	case size > l.MaxBulk:
		return "", 0, ErrReplyLimit
	case len(in) < end:
		return "", 0, nil
	case in[end-2:end] != "\r\n":
		return "", 0, ErrReply
	}
	body := in[n : end-2]
	switch mark {
	case '=':
		if len(body) < 4 || body[3] != ':' {
			return "", 0, ErrReply
		}
		return "=" + strconv.Quote(body), end, nil
	case '!':
		return "-" + strconv.Quote(body), end, nil
	}
	return strconv.Quote(body), end, nil
}

func referenceMany(mark byte, in string, n, size int, l Limits, depth int) (string, int, error) {
	if size > l.MaxArgs || (mark == '%' || mark == '|') && 2*size > l.MaxArgs || depth == l.MaxDepth {
		return "", 0, ErrReplyLimit
	}
	if mark == '%' || mark == '|' {
		size *= 2
	}
	var all []string
	for range size {
		elem, took, err := referenceValue(in[n:], l, depth+1)
		if took == 0 {
			return "", 0, err
		}
		all, n = append(all, elem), n+took
	}
	if mark == '|' {
		want, took, err := referenceValue(in[n:], l, depth)
		if took == 0 {
			return "", 0, err
		}
		return want, n + took, nil
	}
	return strings.TrimPrefix(string(mark), "*") + "[" + strings.Join(all, " ") + "]", n, nil
}
