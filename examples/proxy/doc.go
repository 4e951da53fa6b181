// Proxy passes bytes between its clients and a server, both ways: each client has a connection to
// the server, from its first bytes on, and they end together. Who reads slowly slows the other end
// down. Who ends its side alone may still read: the other end hears of it, and may go on sending.
package main
