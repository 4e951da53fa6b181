// Package frame is what passes over a connection between two nodes, as pure functions: no I/O, no
// goroutines, no state, nothing on the heap. docs/wire.md describes each byte.
//
// A connection begins with a HELLO in either direction, which [NextHello] reads, and which refuses
// a stranger at his first wrong byte. All that follows is frames:
//
//	3 bytes   how many bytes follow these, the highest first
//	1 byte    kind
//	1 byte    flags
//	the body  numbers in base 128 as in protobuf, names behind their length; a message, which is
//	          always the last field, takes what is left
//
// [Next] cuts a stream into frames. Each kind is a struct: Append appends it as a frame, Read reads
// it from what Next has found. Fields of bytes alias the input, and live as long as that. There is
// one way only to write a frame: who reads one and appends it gets the same bytes.
//
// A frame has at most [FrameMax] bytes. Append makes longer ones, too, of up to [LongMax] bytes:
// these travel as the pieces of PART frames, between which others pass, and Long reads them when
// they are together again.
//
// Frames are of the stream of their session, which counts their bytes and sends them again over the
// next connection, or outside it, as HELLO, ACK, PING and BYE are: a flag says so. Another flag
// says that whoever doesn't know the kind may skip the frame. Without it an unknown kind is an
// error, and so is everything else that this version doesn't write.
//
// What a peer sends never makes this package panic. Append panics for what no caller may send:
// names and frames above their limits, numbers that say nothing.
package frame
