// Package certs makes certificates for trying things out: of a CA that nobody knows, and of hosts
// and clients that it vouches for. They are valid for a day, from an hour ago.
package certs
