package channel

import "errors"

// Codec translates between the bytes of one connection and messages. Each
// connection has its own, made by Config.Codec, so it may keep state between
// calls; it does no I/O and never blocks. It runs in the turn of the actor that
// owns the connection.
type Codec[Req, Rep any] interface {
	// Decode reads one request from the start of in into req, which is zero, and returns how
	// many bytes it took. 0 and no error: in holds no whole request yet, and what req has is
	// forgotten; Decode gets the same bytes again, and more. ErrSkip: the n bytes, which may
	// be all there are, hold nothing to answer. Any other error is the end: the client gets
	// Refuse's bytes behind the results in flight, and the connection is closed. req may refer
	// to in: the bytes live as long as the request.
	Decode(in []byte, req *Req) (n int, err error)
	// Need returns how many bytes in must have before Decode can succeed, as far
	// as the last Decode that returned 0 could tell; at least 1.
	Need() int
	// Size returns how many bytes Encode will append at most. So much room is made before it is
	// called; what it doesn't use the next result does.
	Size(rep *Rep, err error) int
	// Encode appends the result of a request: its reply, or why there is none. An error's text may
	// have any length, and line breaks.
	Encode(out []byte, rep *Rep, err error) []byte
	// Refuse appends what the client is told of an error of Decode, ErrSlowRequest or ErrConnsMax;
	// at most 1 KiB.
	Refuse(out []byte, err error) []byte
}

// Gated is for a Codec whose client is a stranger until it has shown that it may come in, by a
// password perhaps. What strangers send has a bound of its own, an eighth of Config.InputMax: they
// keep no known client waiting.
type Gated interface {
	// Stranger reports whether the client is still a stranger. It is called once the codec is made
	// and after each request that Decode took, until it returns false.
	Stranger() bool
}

// ErrSkip is returned by a Codec for bytes that ask for nothing, such as an
// empty line.
var ErrSkip = errors.New("channel: nothing to answer")

// ErrSlowRequest is what Refuse gets for a client whose request took longer than
// Config.RequestTimeout allows, or kept others from theirs, see Config.InputMax.
var ErrSlowRequest = errors.New("channel: the request took too long to arrive")

// refusalMax is what Refuse may append, in bytes.
const refusalMax = 1 << 10
