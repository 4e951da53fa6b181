// Remote is two programs: one that has a counter, and one that asks it from another process. They
// know each other by certificates:
//
//	go run ./examples/certs -dir /tmp/certs -client store,shop
//	go run ./examples/remote -name store -certs /tmp/certs -listen 127.0.0.1:7400
//	go run ./examples/remote -name shop -certs /tmp/certs -ask store=127.0.0.1:7400
package main
