// Package client is the other end of the reservation service's HTTP API, as programs use it
// that load and examine the service.
package client
