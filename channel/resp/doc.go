// Package resp is the Redis protocol, versions 2 and 3, as pure functions: bytes in,
// values out, no I/O and no goroutines. It parses requests as Redis 7.0 does and
// refuses what Redis refuses, in the same words.
//
// A server gives each connection a [Codec]. Its Decode takes the whole input not
// yet consumed and has three answers:
//
//	n > 0             n bytes are one request, now in the [Command]
//	n == 0, err nil   more bytes are needed: at least [Decoder.Need] in total
//	err               a protocol error: send its text, close the connection
//
// A request may be empty ("\r\n", "*0\r\n", "*-1\r\n"): n > 0 and Command.Len()
// is 0. Redis ignores such requests without an answer, and so must the server.
//
// A Command aliases the input. To keep it for longer, copy [Command.Raw] and call [Command.Rebase]
// with the copy. The first eight arguments are found in constant time, later ones by walking over
// those before; [Command.Args] walks once over all.
//
// A [Reply] is a value that is built without allocation; [Codec.Encode] appends its bytes. An array
// is written by [AppendArray] and further Append functions for its elements, and sent as [Raw].
//
// Requests are the same in both versions; answers differ once a client has sent HELLO 3. The
// methods of [Version] append values for which RESP3 has a type of its own; for RESP2 they use the
// type that Redis uses there. A Reply carries its version, because requests before and after a
// HELLO may be answered together.
//
// The other direction: a client of package channel gives each connection a [ClientCodec], which
// writes a [Request] and reads answers of both versions into a [Value]. Below it, and for tests and
// load generators, [AppendCommand] writes requests, [ReplyDecoder] and [DecodeReply] read answers.
//
// Nothing here allocates, but for inline requests with quotes, which need memory
// for their unescaped arguments (at most about four times [Limits.MaxInline]),
// for doubles of unusual length in [Value.Float], for errors made of answers, and
// for the texts of some errors.
//
// Where this package differs from Redis 7.0:
//
//   - A length line, and an argument, must end in CR LF. Redis accepts any byte in place of a
//     line's LF and any two bytes behind an argument, so it doesn't notice a client whose
//     lengths are wrong. Here that is an invalid length.
//   - A line is too long by its length alone. In Redis that depends on how much of
//     it came with one read.
//   - NUL in an inline request is an ordinary byte. Redis doesn't see the line's
//     end behind it and waits until the request is too big.
//   - Requests have a limit in total, [Limits.MaxRequest].
//
// Of RESP3, streams (lengths of "?") are refused: no Redis sends them.
package resp
