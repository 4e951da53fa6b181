// Package httphost has actors serve HTTP by net/http: a [Handler] asks a port for each request, and
// [Serve] ends the server before the system whose actors it asks.
//
// For much of the load that a cache has, net/http is the larger part: package channel serves codecs
// of one's own. It imports core and house.
package httphost
