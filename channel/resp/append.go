package resp

import "strconv"

// AppendSimple appends a simple string. CR and LF in it become spaces.
//
//alloc:none
func AppendSimple(out []byte, text string) []byte {
	return appendText(append(out, '+'), text)
}

// AppendError appends an error. Its text should begin with a code such as ERR; CR and LF in it
// become spaces.
//
//alloc:none
func AppendError(out []byte, text string) []byte {
	return appendText(append(out, '-'), text)
}

func appendText(out []byte, text string) []byte {
	start := len(out)
	out = append(out, text...)
	for i, c := range out[start:] {
		if c == '\r' || c == '\n' {
			out[start+i] = ' '
		}
	}
	return append(out, '\r', '\n')
}

// AppendInt appends an integer.
//
//alloc:none
func AppendInt(out []byte, n int64) []byte { return appendNumber(out, ':', n) }

// AppendBulk appends a bulk string.
//
//alloc:none
func AppendBulk(out []byte, b []byte) []byte {
	out = appendNumber(out, '$', int64(len(b)))
	out = append(out, b...)
	return append(out, '\r', '\n')
}

// AppendBulkString is AppendBulk for a string.
//
//alloc:none
func AppendBulkString(out []byte, s string) []byte {
	out = appendNumber(out, '$', int64(len(s)))
	out = append(out, s...)
	return append(out, '\r', '\n')
}

// AppendNil appends the nil bulk string of RESP2, the answer where there is no value.
//
//alloc:none
func AppendNil(out []byte) []byte { return append(out, "$-1\r\n"...) }

// AppendNilArray appends the nil array of RESP2, the answer when a blocking command timed out or a
// transaction was aborted.
//
//alloc:none
func AppendNilArray(out []byte) []byte { return append(out, "*-1\r\n"...) }

// AppendArray begins an array of n elements, which the caller appends next.
//
//alloc:none
func AppendArray(out []byte, n int) []byte { return appendNumber(out, '*', int64(n)) }

// AppendCommand appends a request as clients send it, with the command's name as its first
// argument.
//
//alloc:none
func AppendCommand[T ~string | ~[]byte](out []byte, args ...T) []byte {
	out = AppendArray(out, len(args))
	for _, arg := range args {
		out = appendNumber(out, '$', int64(len(arg)))
		out = append(out, arg...)
		out = append(out, '\r', '\n')
	}
	return out
}

func appendNumber(out []byte, mark byte, n int64) []byte {
	if uint64(n) < 10 {
		return append(out, mark, '0'+byte(n), '\r', '\n')
	}
	out = strconv.AppendInt(append(out, mark), n, 10)
	return append(out, '\r', '\n')
}
