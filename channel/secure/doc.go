// Package secure is TLS for connections, by crypto/tls: [TLS] makes stages of a [tls.Config], see
// channel.Config.TLS and channel.ClientConfig.TLS.
//
// A handshake blocks and takes long, so it runs on a goroutine: of a server only once the client's
// first message is there, as a whole. [Limits] bounds how many of one TLS run at once, in all and
// for one address, how long each may take and how many bytes. Where there is no room for one more,
// who has waited longest for its client has to go, once that is long enough. Who waits for a
// goroutine is served before those whose address has more handshakes running, and before those that
// came earlier. Behind the handshake the records of a connection are read and written in its
// worker's turns.
package secure
