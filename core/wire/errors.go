package wire

import "errors"

// Errors of a Reader. They are returned as they are, and cost no memory.
var (
	// ErrTruncated is the error for bytes that end too early, and for a length that announces more
	// than there is.
	ErrTruncated = errors.New("wire: truncated")
	// ErrTrailing is the error of End for bytes behind the last value, and for a value of a
	// hand-coded type that has not read all its bytes.
	ErrTrailing = errors.New("wire: bytes behind the end")
	// ErrBudget is the error for a value that asks for more memory than its bytes may.
	ErrBudget = errors.New("wire: the value needs more memory than its bytes may ask for")
	// ErrVarint is the error for a varint of more than 64 bits, or with more digits than it needs.
	ErrVarint = errors.New("wire: no varint is written so")
	// ErrBool is the error for a bool that is neither 0 nor 1.
	ErrBool = errors.New("wire: a bool is 0 or 1")
	// ErrRange is the error for an int or uint that this machine's doesn't hold.
	ErrRange = errors.New("wire: the number doesn't fit here")
	// ErrTime is the error for a time whose nanoseconds are a second or more.
	ErrTime = errors.New("wire: no time has as many nanoseconds")
	// ErrDuplicate is the error for a map that has a key twice.
	ErrDuplicate = errors.New("wire: a key comes twice")
	// ErrNames is the error for a reference that nobody reads: see Reader.SetNames.
	ErrNames = errors.New("wire: a reference, and nobody who reads it")
	// ErrFiller is the error for the byte of an element without fields if it isn't 0.
	ErrFiller = errors.New("wire: the byte of an empty element is 0")
)
