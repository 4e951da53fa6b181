package resp

import "bytes"

// inline reads a request that is one line of words, as people type it.
func (d *Decoder) inline(in []byte, cmd *Command) (int, error) {
	text := d.window(in)
	lf := bytes.IndexByte(text[d.seen:], '\n')
	if lf < 0 {
		if len(text) > d.limits.MaxInline {
			return d.fail(ErrInlineTooBig)
		}
		d.seen = len(text)
		return d.wait(int64(len(in)) + 1)
	}
	n := d.seen + lf + 1
	if d.need != 0 {
		d.Reset()
	}
	line := in[:n:n]
	if bytes.IndexByte(line, '"') >= 0 || bytes.IndexByte(line, '\'') >= 0 {
		if err := cmd.quoted(line); err != nil {
			return d.fail(err)
		}
		return n, nil
	}
	cmd.words(line)
	return n, nil
}

// words makes cmd alias a line without quotes.
func (c *Command) words(line []byte) {
	c.raw, c.argc, c.inline = line, 0, true
	for off := 0; ; c.argc++ {
		from, to := word(line, off)
		if from == to {
			return
		}
		if c.argc < cached {
			c.at[c.argc] = span{uint32(from), uint32(to)}
		}
		off = to
	}
}

// word finds the next word of a line from off on; at the end it is empty. As in Redis, more bytes
// may stand before a word than can end one: isBlank, endsWord.
func word(line []byte, off int) (from, to int) {
	for off < len(line) && isBlank(line[off]) {
		off++
	}
	from = off
	for off < len(line) && !endsWord(line[off]) {
		off++
	}
	return from, off
}

func isBlank(c byte) bool { return c == ' ' || c-'\t' < 5 } // \t \n \v \f \r

func endsWord(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// quoted makes c a multibulk request, in memory of its own, with the arguments of the line.
//
//go:noinline
func (c *Command) quoted(line []byte) error {
	scratch := make([]byte, 0, len(line))
	argc := 0
	for rest := line; ; argc++ {
		var err error
		if _, rest, err = token(scratch, rest); err != nil {
			return err
		}
		if rest == nil {
			break
		}
	}
	raw := AppendArray(nil, argc)
	for rest := line; ; {
		var arg []byte
		if arg, rest, _ = token(scratch, rest); rest == nil {
			break
		}
		raw = AppendBulk(raw, arg)
	}
	c.raw, c.argc, c.inline = raw, argc, false
	c.index()
	return nil
}

// token appends the next argument of line, unescaped, to dst. rest is the line behind it; nil if
// there was no further argument.
func token(dst, line []byte) (arg, rest []byte, err error) {
	i, _ := word(line, 0)
	if i == len(line) {
		return dst, nil, nil
	}
	for i < len(line) && !endsWord(line[i]) {
		quote := line[i]
		if quote != '"' && quote != '\'' {
			dst = append(dst, quote)
			i++
			continue
		}
		for i++; i < len(line) && line[i] != quote; {
			var c byte
			c, i = unescape(line, i, quote)
			dst = append(dst, c)
		}
		if i++; i > len(line) || i < len(line) && !isBlank(line[i]) {
			return nil, nil, ErrQuotes // the quote is never closed, or no blank follows it
		}
		break
	}
	return dst, line[i:], nil
}

// unescape reads one byte between quotes, and returns the offset behind it. In single quotes the
// only escape is \'.
func unescape(line []byte, i int, quote byte) (c byte, next int) {
	c = line[i]
	if c != '\\' || i+1 == len(line) || quote == '\'' && line[i+1] != '\'' {
		return c, i + 1
	}
	c = line[i+1]
	if quote == '\'' {
		return c, i + 2
	}
	switch c {
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'b':
		c = '\b'
	case 'a':
		c = '\a'
	case 'x':
		if i+3 < len(line) {
			high, low := hexDigit(line[i+2]), hexDigit(line[i+3])
			if high < 16 && low < 16 {
				return high<<4 | low, i + 4
			}
		}
	}
	return c, i + 2
}

// hexDigit returns the value of a hexadecimal digit, 255 for other bytes.
func hexDigit(c byte) byte {
	switch {
	case c-'0' <= 9:
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}
