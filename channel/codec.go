package channel

import "errors"

// Codec translates between the bytes of one connection and messages. Each connection has its own,
// made by Config.Codec, so a codec may keep state between calls. It does no I/O and never blocks.
// It is called in turns of the actor that owns the connection. It may be [Gated], [Alone] and
// [Unordered].
type Codec[Req, Rep any] interface {
	// Decode reads one request from the start of in into req, which is zero, and returns how many
	// bytes the request took. n = 0 without an error means that in holds no whole request: req is
	// dropped, and Decode is called again with the same bytes and more. ErrSkip means that the n
	// bytes, perhaps all of in, hold nothing to answer; so does ErrEnough. Any other error closes
	// the connection: the client gets the results in flight, then the bytes of Refuse. req may
	// refer to in: its bytes live as long as the request.
	Decode(in []byte, req *Req) (n int, err error)
	// Need returns how many bytes in must have before Decode can succeed, as far as the last Decode
	// that returned 0 could tell; at least 1.
	Need() int
	// Size returns how many bytes Encode will append at most. So much room is made before Encode is
	// called; the next result uses what is left of it.
	Size(rep *Rep, err error) int
	// Encode appends the result of a request to out: rep, or err if that isn't nil. The text of err
	// may have any length, and line breaks.
	Encode(out []byte, rep *Rep, err error) []byte
	// Refuse appends what the client is told when err closes its connection: an error of Decode,
	// ErrSlowRequest or ErrConnsMax. It appends at most 1 KiB.
	Refuse(out []byte, err error) []byte
}

// Gated is implemented by a Codec whose client is a stranger until it has proved that it may come
// in, by a password for example. The received bytes of strangers have a bound of their own, an
// eighth of Config.InputMax, so that strangers keep no known client waiting.
type Gated interface {
	// Stranger reports whether the client is still a stranger. It is called once the codec is made,
	// and after each request that Decode took until Stranger returns false.
	Stranger() bool
}

// ErrSkip is returned by a Codec for bytes that ask for nothing, such as an
// empty line.
var ErrSkip = errors.New("channel: nothing to answer")

// ErrEnough is returned instead of ErrSkip by a Codec, not by a ClientCodec, that itself does what
// bytes say, when it has done its share of the turn: nothing more is decoded before the next one.
// So actors come to handle what the codec has sent them, which would otherwise wait, as much as
// came, behind what comes.
var ErrEnough = errors.New("channel: nothing to answer, and enough for this turn")

// ErrSlowRequest is what Refuse gets for a client whose request took longer than
// Config.RequestTimeout allows, or came too slowly while other connections waited to read theirs:
// see Config.InputMax.
var ErrSlowRequest = errors.New("channel: the request took too long to arrive")

// refusalMax is how many bytes Refuse may append.
const refusalMax = 1 << 10

// ClientCodec is a Codec's other side: it translates requests to bytes, and bytes to replies. Each
// connection of a Client has its own. It does no I/O and never blocks, and is called in turns of
// the worker that has the connection. A panic closes the connection.
type ClientCodec[Req, Rep any] interface {
	// RequestSize returns how many bytes AppendRequest will append at most.
	RequestSize(req *Req) int
	// AppendRequest appends a request to out.
	AppendRequest(out []byte, req *Req) []byte
	// Decode reads one reply from the start of in into rep, and returns how many bytes it took.
	// n = 0 without an error means that in holds no whole reply: Decode is called again with the
	// same bytes and more. An error with n > 0 is the reply itself, as the asker gets it; ErrSkip
	// means that the n bytes reply to nothing. An error with n = 0 closes the connection. rep may
	// refer to in: its bytes live as long as the asker may use the reply.
	Decode(in []byte, rep *Rep) (n int, err error)
	// Need returns how many bytes in must have before Decode can succeed, as far as the last Decode
	// that returned 0 could tell; at least 1.
	Need() int
}

// Numbered is implemented by a ClientCodec whose replies may come in another order than their
// requests, and name them by a number. Without it the first reply is the first request's.
type Numbered[Req, Rep any] interface {
	// SetNumber gives req its number, before AppendRequest. Numbers are below
	// ClientConfig.InflightMax.
	SetNumber(req *Req, number uint64)
	// Number returns the number of the request that rep, which Decode has just read, replies to.
	// With an error that is a reply, rep needs no more than this number.
	Number(rep *Rep) uint64
}

// Alone is implemented by a Codec, or a ClientCodec, some of whose requests must have a connection
// to themselves. A server begins such a request when the results of all before it are written, and
// decodes nothing behind it before its own result is; Config.WorkMax refuses none. A client sends
// it when no other has to be answered, and no other before its reply has come.
type Alone[Req any] interface {
	// Alone reports whether req, which Decode has just read, or which AppendRequest is to append,
	// is such a request.
	Alone(req *Req) bool
}

// Unordered is implemented by a Codec whose results may be written in another order than that of
// their requests, as they name them: each is written once it is complete, or has a part to be
// written. Once the first part is written the rest of that result comes before all others, but a
// part waits for nothing else. Behind core.ChannelStack.ReturnLast, and behind Upgrade, all other
// requests in flight are cancelled, whenever they came.
type Unordered[Req any] interface {
	// Answering tells whose result is encoded next: it is called before Size, for each result, each
	// part of one, and each error. req is the request as Decode and its handler left it, valid
	// until Encode returns; nil: what is encoded answers no request.
	Answering(req *Req)
}
