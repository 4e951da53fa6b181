// Package stage is what the bytes of a connection pass between its socket and its codec: limits of
// rate and silence, the headers of proxies, encryption, compression. A [Stage] has some of the
// methods below, and is put into the connections of a server by channel.Config.Stages, and of a
// client by channel.ClientConfig.Stages. The first stage stands at the socket, the last at the
// codec.
//
// A stage does no I/O: it takes bytes, and hands on what becomes of them by its [Flow]. So a
// [Pipeline] of stages is tried without sockets: housetest.Embedded does that, with a codec behind
// it.
package stage
