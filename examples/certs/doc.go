// Command certs makes a CA, and certificates of it, for trying things out:
//
//	certs -dir /tmp/certs localhost 127.0.0.1
//
// writes ca.pem, server.pem and server.key for these names, and client.pem and client.key. The CA's
// own key is kept nowhere: each call makes another CA.
package main
