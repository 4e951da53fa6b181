package channel_test

import (
	"bytes"
	"errors"

	"github.com/stackhouse-go/stackhouse/channel"
)

// line is the protocol of these tests: a request is a line, a result is one too.
// The words of a request say what the front does with it, see front_test.go.
type (
	request struct{ line []byte }
	reply   struct{ text []byte }
)

// lineMax is the longest request.
const lineMax = 1 << 20

var (
	errLong = errors.New("line too long")
	errMark = errors.New("a line begins with a mark")
)

// lineCodec is line on one connection. Lines that begin with these words try the
// server rather than the front:
//
//	""            nothing to answer
//	!             can't be decoded
//	decode-panic  Decode panics
//	encode-panic  Encode panics, once the front has answered
//	encode-long   Encode appends more than Size said
//	encode-none   Encode appends nothing
//	encode-other  Encode returns bytes of its own
type lineCodec struct{ seen int }

func newLineCodec() channel.Codec[request, reply] { return &lineCodec{} }

func (c *lineCodec) Decode(in []byte, req *request) (int, error) {
	end := bytes.IndexByte(in[c.seen:], '\n')
	if end < 0 {
		c.seen = len(in)
		if len(in) > lineMax {
			return 0, errLong
		}
		return 0, nil
	}
	end += c.seen
	c.seen = 0
	switch line := in[:end]; {
	case end == 0:
		return 1, channel.ErrSkip
	case line[0] == '!':
		return 0, errMark
	case end > lineMax:
		return 0, errLong
	case string(line) == "decode-panic":
		panic("decode")
	default:
		req.line = line
		return end + 1, nil
	}
}

func (c *lineCodec) Need() int { return c.seen + 1 }

func (c *lineCodec) Size(rep *reply, err error) int {
	if err != nil {
		return len(err.Error()) + 2
	}
	return len(rep.text) + 1
}

func (c *lineCodec) Encode(out []byte, rep *reply, err error) []byte {
	if err != nil {
		out = append(out, '-')
		out = append(out, err.Error()...)
		return append(out, '\n')
	}
	switch string(rep.text) {
	case "encode-panic":
		panic("encode")
	case "encode-long":
		return append(out, make([]byte, 1<<20)...)
	case "encode-none":
		return out
	case "encode-other":
		return []byte("x")
	}
	out = append(out, rep.text...)
	return append(out, '\n')
}

func (c *lineCodec) Refuse(out []byte, err error) []byte {
	out = append(out, "refused: "...)
	out = append(out, err.Error()...)
	return append(out, '\n')
}

// soloCodec is lineCodec of a protocol in which requests that begin with "solo" must be alone.
type soloCodec struct{ lineCodec }

func newSoloCodec() channel.Codec[request, reply] { return &soloCodec{} }

var solo = []byte("solo ")

func (c *soloCodec) Alone(req *request) bool { return isSolo(req) }

func isSolo(req *request) bool { return bytes.HasPrefix(req.line[len(numberOf(req.line)):], solo) }

// numberCodec is lineCodec of a protocol whose requests and results begin with a number, and may be
// answered in any order. What answers no request begins with a star.
type numberCodec struct {
	lineCodec
	number []byte // of what is encoded next, with the space behind it
}

func newNumberCodec() channel.Codec[request, reply] { return &numberCodec{} }

var star = []byte("* ")

// numberOf is the number before a line, with the space behind it; empty: there is none.
func numberOf(line []byte) []byte {
	n := 0
	for n < len(line) && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	if n == 0 || n == len(line) || line[n] != ' ' {
		return nil
	}
	return line[:n+1]
}

func (c *numberCodec) Answering(req *request) {
	if c.number = star; req != nil {
		c.number = numberOf(req.line)
	}
}

func (c *numberCodec) Size(rep *reply, err error) int {
	return len(c.number) + c.lineCodec.Size(rep, err)
}

func (c *numberCodec) Encode(out []byte, rep *reply, err error) []byte {
	return c.lineCodec.Encode(append(out, c.number...), rep, err)
}

// bothCodec is numberCodec and soloCodec.
type bothCodec struct{ numberCodec }

func newBothCodec() channel.Codec[request, reply] { return &bothCodec{} }

func (c *bothCodec) Alone(req *request) bool { return isSolo(req) }
