// Package sent is the requests that a client has on one connection, as a state machine without
// I/O: which may be sent, which one a reply belongs to, and which may have been seen by the other
// end when the connection is lost. [Requests] has all of it.
package sent
