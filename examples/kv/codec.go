package main

import (
	"bytes"
	"errors"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// codec is the Redis protocol on one connection.
type codec struct {
	decoder  resp.Decoder
	stranger bool // the decoder has strangerLimits
	service  *service
	session  session
	stores   *stores
}

// owed is how many replies each request in flight owes, in order. A request that fails owes them
// too.
type owed struct {
	counts    [inflightMax]uint8
	took, put int // Invariant: 0 <= put-took <= inflightMax
}

func (o *owed) push(n int) {
	o.counts[o.put%inflightMax] = uint8(n)
	o.put++
}

func (o *owed) first() int { return int(o.counts[o.took%inflightMax]) }

func (c *codec) Decode(in []byte, req *inbound) (int, error) {
	if c.session.id == 0 { // Listen makes a codec that serves no client
		c.session.id = c.service.ids.Add(1)
	}
	req.session = &c.session
	n, err := c.decode(in, &req.Command)
	switch {
	case n == 0 || err != nil:
	case req.Len() == 0:
		err = channel.ErrSkip
	case speaksHTTP(req.Arg(0)):
		err = errHTTP
	default:
		if n < len(in) {
			n = max(n, c.decodePipeline(in, n, req))
		}
		req.index = c.session.owed.put
		c.session.owed.push(max(1, req.pipeline.n))
	}
	return n, err
}

// errHTTP ends the connection of a browser, without an answer. A web page may have a browser send a
// request whose body is commands.
var errHTTP = errors.New("kv: a request of HTTP")

// speaksHTTP reports whether a command's name is one that only a browser sends.
func speaksHTTP(name []byte) bool {
	switch len(name) {
	case len("post"):
		return bytes.EqualFold(name, []byte("post"))
	case len("host:"):
		return bytes.EqualFold(name, []byte("host:"))
	}
	return false
}

func (c *codec) Need() int { return c.decoder.Need() }

// frameMax is how many bytes surround the text of a reply, and the length of the longest reply
// without text, in bytes.
const frameMax = 40

func (c *codec) Size(rep *resp.Reply, err error) int {
	if err != nil {
		return c.session.owed.first() * (frameMax + len(failure(err)))
	}
	return frameMax + len(rep.Str) + len(rep.Text)
}

func (c *codec) Encode(out []byte, rep *resp.Reply, err error) []byte {
	owed := &c.session.owed
	n := owed.first()
	if err == nil && rep.Kind == resp.KindPart {
		owed.counts[owed.took%inflightMax] -= uint8(rep.Int)
		return append(out, rep.Str...)
	}
	owed.took++
	if err == nil {
		return resp.AppendReply(out, rep)
	}
	for range n {
		out = resp.AppendError(out, failure(err))
	}
	return out
}

func (c *codec) Refuse(out []byte, err error) []byte {
	switch err {
	case errHTTP:
		return out
	case channel.ErrConnsMax:
		return resp.AppendError(out, "ERR max number of clients reached")
	case channel.ErrSlowRequest:
		return resp.AppendError(out, "ERR the request took too long to arrive")
	}
	return resp.AppendError(out, err.Error())
}

// failure is the reply for an error within the server.
func failure(err error) string {
	switch {
	case errors.Is(err, core.ErrTimeout):
		return "ERR the store didn't answer in time"
	case errors.Is(err, core.ErrStopped):
		return "ERR the server is shutting down"
	case errors.Is(err, errLong):
		return errReply
	}
	return "ERR internal error"
}
