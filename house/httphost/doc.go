// Package httphost has actors serve HTTP by net/http: a [Handler] asks a port for each request, and
// [Serve] ends the server before the system whose actors it asks.
//
// In a service as small as a cache, net/http takes more time than the actors: package channel
// serves codecs of one's own without it. httphost imports core and house.
package httphost
