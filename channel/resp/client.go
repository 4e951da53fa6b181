package resp

import (
	"errors"
	"fmt"
)

// requestArgs is how many arguments a Request holds itself: few commands have more.
const requestArgs = 4

// Request is a command that a client sends. It aliases the bytes of its arguments, which must stay
// unchanged until its reply has come; it may be copied by value. The zero Request is a command
// without a name, which servers refuse.
type Request struct {
	// Name is the command's name, such as "GET". Of a command of two words, such as "CONFIG GET",
	// the second is an argument.
	Name string
	// More is arguments behind those that Cmd was given.
	More [][]byte
	// Blocks says that the command may wait in the server, as BLPOP does. Such a command gets a
	// connection to itself, so that no other waits behind it.
	Blocks bool

	few  [requestArgs][]byte
	argc int // Invariant: few[:argc] are arguments
}

// Cmd returns the request of a command. With up to four arguments it allocates nothing; so it does
// with any number if they are in Request.More.
func Cmd(name string, args ...[]byte) Request {
	r := Request{Name: name}
	r.argc = copy(r.few[:], args)
	if len(args) > requestArgs {
		r.more(args[requestArgs:])
	}
	return r
}

//go:noinline
func (r *Request) more(args [][]byte) { r.More = append(r.More, args...) }

// lengthMax is how long the mark, the length and both line ends of an argument are at most.
const lengthMax = len("$9223372036854775807\r\n\r\n")

// Size returns how many bytes Append appends at most.
//
//alloc:none
func (r *Request) Size() int {
	n := 2*lengthMax + len(r.Name)
	for _, arg := range r.few[:r.argc] {
		n += lengthMax + len(arg)
	}
	for _, arg := range r.More {
		n += lengthMax + len(arg)
	}
	return n
}

// Append appends the request as it is sent.
//
//alloc:none
func (r *Request) Append(out []byte) []byte {
	out = AppendArray(out, 1+r.argc+len(r.More))
	out = AppendBulkString(out, r.Name)
	for _, arg := range r.few[:r.argc] {
		out = AppendBulk(out, arg)
	}
	for _, arg := range r.More {
		out = AppendBulk(out, arg)
	}
	return out
}

// ErrPush is the error of a push for which a ClientCodec has no Skip.
var ErrPush = errors.New("resp: a push came, and ClientCodec.Skip is missing")

// ErrGreeting is the error of a connection whose greeting the server has refused. With it comes
// what the server says, a ServerError.
var ErrGreeting = errors.New("resp: the server has refused the greeting")

// ClientCodec is a client's side of one connection: a channel.ClientCodec[Request, Value].
//
// An error that the server replies is a Value like any other, so it costs no allocation and stands
// in arrays as it does by itself: ask for Value.IsError, or Value.Err. An error of Decode ends the
// connection. A Value aliases the bytes that came.
//
// Connections are shared, so a request may not change what its connection is to others: no MULTI,
// WATCH, SELECT or SUBSCRIBE, and no CLIENT REPLY, after which replies can't be told apart. What
// holds for a whole connection is in its Greeting. Channels of RESP3 that a greeting subscribes to
// come as pushes; in RESP2 they can't be told from replies.
//
// The zero ClientCodec is for servers that speak RESP2, with the default limits.
type ClientCodec struct {
	ReplyDecoder
	// Greeting is commands, as AppendCommand writes them, that go out before the first request of a
	// connection, such as HELLO 3 and AUTH. Their replies are skipped; an error among them ends the
	// connection with ErrGreeting. It may be shared by connections.
	Greeting []byte
	// Skip is what Decode returns with bytes that reply to no request: channel.ErrSkip. It is needed
	// with a Greeting, and for servers that send pushes.
	Skip error
	// OnPush, if set, is called in Decode with each push, which is valid until it returns.
	OnPush func(Value)

	greeted bool
	owed    int // replies to the greeting that haven't come
}

// RequestSize returns how many bytes AppendRequest appends at most.
//
//alloc:none
func (c *ClientCodec) RequestSize(req *Request) int {
	if !c.greeted {
		return len(c.Greeting) + req.Size()
	}
	return req.Size()
}

// AppendRequest appends a request, and before the first one the greeting.
//
//alloc:none
func (c *ClientCodec) AppendRequest(out []byte, req *Request) []byte {
	if !c.greeted {
		out = c.greet(out)
	}
	return req.Append(out)
}

// greet appends the greeting. It panics if that isn't whole commands, or Skip is missing.
//
//go:noinline
func (c *ClientCodec) greet(out []byte) []byte {
	c.greeted = true
	var d Decoder
	var cmd Command
	for rest := c.Greeting; len(rest) > 0; c.owed++ {
		n, err := d.Decode(rest, &cmd)
		switch {
		case err != nil || n == 0 || cmd.Len() == 0:
			panic("resp: a greeting isn't made of commands")
		case c.Skip == nil:
			panic("resp: a greeting needs ClientCodec.Skip")
		}
		rest = rest[n:]
	}
	return append(out, c.Greeting...)
}

// Decode reads one reply from the start of in into rep. With n > 0 the error is nil, or Skip: then
// the bytes were a push, or a reply to the greeting. An error with n = 0 ends the connection:
// ErrReply, ErrReplyLimit, ErrPush or ErrGreeting.
//
//alloc:none
func (c *ClientCodec) Decode(in []byte, rep *Value) (n int, err error) {
	n, err = c.ReplyDecoder.Decode(in, rep)
	if n > 0 && (rep.Kind == KindPush || c.owed > 0) {
		return c.skip(n, rep)
	}
	return n, err
}

// skip is what Decode does with n bytes that reply to no request.
//
//go:noinline
func (c *ClientCodec) skip(n int, rep *Value) (int, error) {
	v := *rep
	*rep = Value{}
	switch {
	case v.Kind != KindPush:
		c.owed--
		if err := v.Err(); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrGreeting, err)
		}
	case c.Skip == nil:
		return 0, ErrPush
	case c.OnPush != nil:
		c.OnPush(v)
	}
	return n, c.Skip
}

// Alone reports whether req must have a connection to itself.
//
//alloc:none
func (c *ClientCodec) Alone(req *Request) bool { return req.Blocks }
