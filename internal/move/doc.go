// Package move moves values whose types are known at run time alone: from where they are, which is
// zero behind it, to where the same type is. That takes a few nanoseconds where reflection takes
// forty.
package move
