package channel_test

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
)

type (
	clientConfig = channel.ClientConfig[request, reply]
	asking       = channel.Client[request, reply]
)

// lineClient is the client's side of lineCodec. A reply that begins with a minus is an error. These
// lines try the client rather than the server:
//
//	client-panic   AppendRequest panics
//	client-alone   must have a connection to itself, whatever follows the first word
//
// A reply that begins with a mark can't be decoded, and with a tilde replies to nothing; one that
// begins with a bang makes Decode panic.
type lineClient struct{ seen int }

func newLineClient() channel.ClientCodec[request, reply] { return &lineClient{} }

func (c *lineClient) RequestSize(req *request) int { return len(req.line) + 1 }

func (c *lineClient) AppendRequest(out []byte, req *request) []byte {
	if string(req.line) == "client-panic" {
		panic("encode a request")
	}
	return append(append(out, req.line...), '\n')
}

func (c *lineClient) Alone(req *request) bool {
	return bytes.HasPrefix(req.line, []byte("client-alone"))
}

func (c *lineClient) Decode(in []byte, rep *reply) (int, error) {
	end := bytes.IndexByte(in[c.seen:], '\n')
	if end < 0 {
		c.seen = len(in)
		return 0, nil
	}
	end += c.seen
	c.seen = 0
	line := in[:end]
	switch {
	case len(line) == 0:
	case line[0] == '#':
		return 0, errMark
	case line[0] == '~':
		return end + 1, channel.ErrSkip
	case line[0] == '!':
		panic("decode a reply")
	case line[0] == '-':
		return end + 1, errReply(line[1:])
	}
	rep.text = line
	return end + 1, nil
}

func (c *lineClient) Need() int { return c.seen + 1 }

// numberClient is lineClient of a protocol whose requests and replies begin with a number, and may
// come in any order.
type numberClient struct{ lineClient }

func newNumberClient() channel.ClientCodec[request, reply] { return &numberClient{} }

func (c *numberClient) SetNumber(req *request, number uint64) {
	req.line = fmt.Appendf(nil, "%d %s", number, req.line)
}

func (c *numberClient) Number(rep *reply) uint64 {
	n, rest := number(rep.text)
	rep.text = rest
	return uint64(n)
}

// errReply is an error that the server has replied.
type errReply string

func (e errReply) Error() string { return string(e) }

// caller asks the server in a step, so that its asks have short deadlines, and may be given up.
type caller struct{ server core.Port[request, reply] }

// call is what a caller asks, and within what time; 0: the usual one.
type call struct {
	line  []byte
	limit time.Duration
}

type callStack struct {
	core.AskStack[call, reply]
	rep core.Future[reply]
}

var callerAsk = core.Handle((*caller).ask)

func (c *caller) ask(s *callStack) core.Yield {
	if s.Req.limit > 0 {
		c.server.AskWithin(s, &s.rep, request{s.Req.line}, s.Req.limit)
	} else {
		c.server.Ask(s, &s.rep, request{s.Req.line})
	}
	return core.Suspend(s, (*caller).got)
}

func (c *caller) got(s *callStack) core.Yield {
	rep, err := s.rep.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(reply{s.Copy(rep.text)})
}

// passer forwards asks to the server.
type passer struct{ server core.Port[request, reply] }

type passStack struct{ core.AskStack[request, reply] }

var passerAsk = core.Handle((*passer).ask)

func (p *passer) ask(s *passStack) core.Yield { return p.server.Forward(s, s.Req) }

// isOutcome reports whether an ask of a client may end with err if the server replies no errors.
func isOutcome(err error) bool {
	for _, known := range []error{core.ErrNotSent, core.ErrLost, core.ErrTimeout, core.ErrCancelled, core.ErrOverloaded} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
