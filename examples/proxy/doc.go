// Proxy passes bytes between its clients and a server, both ways: each client has a connection to
// the server, from its first bytes on, and they end together. Who reads slowly slows the other end
// down. A client that ends its side alone has ended both, and so has a server.
package main
