// Command certs makes a CA, and certificates of it, for trying things out:
//
//	certs -dir /tmp/certs localhost 127.0.0.1
//
// writes ca.pem, server.pem and server.key for these names, and client.pem and client.key, whose
// common name is client; -client ann,bob writes ann.pem, ann.key, bob.pem and bob.key instead. All
// are valid for a day. The CA's own key is kept nowhere: each call makes another CA.
package main
