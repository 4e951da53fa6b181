package session

import "errors"

// Errors of positions that the other end tells. They are returned as they are, and change nothing.
var (
	// ErrNeverSent is the error for a position behind what was sent: the other end can't have read
	// so far.
	ErrNeverSent = errors.New("session: the other end has read what was never sent")
	// ErrBack is the error for a position before one that was told earlier.
	ErrBack = errors.New("session: the other end has read less than before")
	// ErrInside is the error for a position within a frame.
	ErrInside = errors.New("session: the other end has read a part of a frame")
	// ErrOver is the error for all that comes after a session's end.
	ErrOver = errors.New("session: the session is over")
)
