// Command echo compares examples/echo with a bare loop around epoll in C, testdata/loop.c: CPU time
// of the server a message, as a ratio; and over TLS with a server of package net and crypto/tls.
//
// Both run in turn, each on the first CPU alone, for the same load from the second. It needs Linux,
// two CPUs, gcc, and taskset.
//
//	go run ./bench/echo -pairs 10 -seconds 1
package main
