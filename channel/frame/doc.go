// Package frame cuts a stream of bytes into frames, and makes frames of payloads: pure functions,
// no I/O and no goroutines. Nothing here allocates, but for the texts of errors in a Codec.
//
// There are five framings:
//
//	Line       text up to "\n", or "\r\n"
//	Delimiter  bytes up to a mark of any length, by default a zero byte
//	Fixed      always as many bytes
//	Length     a header with the length in it: where, how wide and what it counts is said by fields
//	Varint     a length in base 128 before the bytes, as protobuf's delimited messages have it
//
// Each is a small struct for one connection and one direction. Its fields are set before the first
// call. Decode takes the whole input not yet consumed and has three answers:
//
//	n > 0             the first n bytes are one frame; what they carry is in *frame
//	n == 0, err nil   more bytes are needed: at least Need in total. The next call gets the same
//	                  bytes, anywhere in memory, and more behind them
//	err               ErrTooLong or ErrLength: there is no way to find where the next frame begins
//
// A frame aliases the input. Decode remembers how far it has looked: each byte is looked at about
// once, however small the pieces that come in. A length is held against the limit as soon as it has
// come, so who makes room for Need bytes isn't made to keep room for what never comes.
//
// Append makes a frame of a payload. A payload that would come out as another one, or as several,
// would leave the peer out of step with all that follows: Check says so, and Append panics, which
// in a codec costs no more than the connection. Who sends what others have made asks Check first.
//
// A [Codec] makes a framing the codec of a server of package channel, or of a client, whose
// requests and replies are bytes. A codec of other types has a framing as a field, and decodes what
// is in the frame:
//
//	func (c *codec) Decode(in []byte, req *request) (n int, err error) {
//		var body []byte
//		if n, err = c.frames.Decode(in, &body); n > 0 {
//			err = req.parse(body)
//		}
//		return n, err
//	}
package frame
