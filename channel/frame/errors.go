package frame

import "errors"

// Errors of Decode, which end a stream, and of Check. They are returned as they are.
var (
	// ErrTooLong is the error for a frame above the limit, and of Check also for a payload that is
	// longer than the length field can say.
	ErrTooLong = errors.New("frame: longer than the limit")
	// ErrLength is the error for a length that no frame has: one that isn't written as it must be,
	// that overflows, or that is below the least.
	ErrLength = errors.New("frame: no frame has this length")
	// ErrDelimiter is the error of Check for a payload that the peer would end too early, because it
	// holds what ends a frame.
	ErrDelimiter = errors.New("frame: the payload holds the end of a frame")
)
