package service

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guard refuses what a web page of others may have sent through a browser on this machine or in its
// network. A name of theirs that they have lead here, DNS rebinding, shows in Host; else their name
// shows in Origin.
func (s *Service) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.isCalled(r):
			fail(w, errForeignHost)
		case !isOwn(r):
			fail(w, errForeignOrigin)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isCalled reports whether Host names the loopback, the address that the connection leads to, or
// one of Config.Hosts.
func (s *Service) isCalled(r *http.Request) bool {
	host := (&url.URL{Host: r.Host}).Hostname()
	if ip := net.ParseIP(host); ip != nil {
		at, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		if ip.IsLoopback() || at != nil && at.IP.Equal(ip) {
			return true
		}
	}
	is := func(name string) bool { return strings.EqualFold(name, host) }
	return is("localhost") || host != "" && slices.ContainsFunc(s.config.Hosts, is)
}

// isOwn reports whether each Origin is the service itself: its host and port. Programs that are no
// browsers send none.
func isOwn(r *http.Request) bool {
	foreign := func(origin string) bool {
		u, err := url.Parse(origin)
		return err != nil || !strings.EqualFold(u.Host, r.Host)
	}
	return !slices.ContainsFunc(r.Header.Values("Origin"), foreign)
}
