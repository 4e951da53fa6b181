package resp

import "errors"

// Protocol errors of requests. The texts are those of Redis 7.0, ready to be sent.
var (
	ErrMultibulkLength = errors.New("ERR Protocol error: invalid multibulk length")
	ErrBulkLength      = errors.New("ERR Protocol error: invalid bulk length")
	ErrMultibulkCount  = errors.New("ERR Protocol error: too big mbulk count string")
	ErrBulkCount       = errors.New("ERR Protocol error: too big bulk count string")
	ErrInlineTooBig    = errors.New("ERR Protocol error: too big inline request")
	ErrQuotes          = errors.New("ERR Protocol error: unbalanced quotes in request")

	// ErrExpectedBulk matches, by errors.Is, the error for an argument that doesn't begin with '$'.
	// The text of that error names the byte found.
	ErrExpectedBulk = errors.New("ERR Protocol error: expected '$'")

	// ErrRequestTooBig is the error for a request above Limits.MaxRequest. Redis has no such text:
	// it drops the connection.
	ErrRequestTooBig = errors.New("ERR Protocol error: too big request")
)

// Errors of DecodeReply and ReplyDecoder: the reply can't be understood, or it is above one of the
// Limits.
var (
	ErrReply      = errors.New("resp: malformed reply")
	ErrReplyLimit = errors.New("resp: reply above a limit")
)

// unexpected is the error for a byte found where the '$' of an argument must be. As it is one byte,
// it becomes an error without allocation.
type unexpected byte

func (u unexpected) Error() string {
	return string(append(append([]byte("ERR Protocol error: expected '$', got '"), byte(u)), '\''))
}

func (u unexpected) Is(target error) bool { return target == ErrExpectedBulk }

// ServerError is what a server has replied in place of a value, such as "ERR no such command".
type ServerError string

// Error implements error.
func (e ServerError) Error() string { return string(e) }
