// Package move moves values whose types are known at run time only, from one variable to another of
// the same type. The first is zero afterwards. This takes a few nanoseconds where reflection takes
// forty.
package move
