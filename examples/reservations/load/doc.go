// Load is the reservation service's load generator: clients that each send the next request when
// the last is answered. A third of the requests reserve, a third confirm or release what was
// reserved, one in ten looks at an item, and all of the others that change something share
// writes. It prints how many, and how long requests took.
//
//	load -addr 127.0.0.1:8080 -clients 64 -seconds 10
package main
