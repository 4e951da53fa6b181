package frame

import "errors"

// Errors of what a peer has sent. Each ends the connection: there is no telling what it meant. They
// are returned as they are.
var (
	// ErrMagic is the error for a connection that doesn't begin as one between nodes does.
	ErrMagic = errors.New("frame: the other end is no node")
	// ErrVersion is the error for a HELLO of a version that isn't spoken here.
	ErrVersion = errors.New("frame: the other end speaks another version")
	// ErrLength is the error for a frame without a head, or above the limit.
	ErrLength = errors.New("frame: no frame has this length")
	// ErrKind is the error for a kind that isn't known and mustn't be skipped, or that may not come
	// where it came.
	ErrKind = errors.New("frame: no frame of this kind may come here")
	// ErrFlags is the error for flags that the kind doesn't have, or lacks.
	ErrFlags = errors.New("frame: the kind has other flags")
	// ErrShort is the error for a field that would end behind its frame.
	ErrShort = errors.New("frame: a field ends behind the frame")
	// ErrTrailing is the error for bytes behind the last field.
	ErrTrailing = errors.New("frame: bytes behind the last field")
	// ErrNumber is the error for a number of more than 64 bits, or with more digits than it needs.
	ErrNumber = errors.New("frame: a number isn't written as it must be")
	// ErrRange is the error for a field that is longer, or a number that is higher or lower, than it
	// may be; and for fields that contradict each other.
	ErrRange = errors.New("frame: a field is out of its range")
)
