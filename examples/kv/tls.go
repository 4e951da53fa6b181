package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/stackhouse-go/stackhouse/channel/secure"
)

// secure makes the TLS of the files.
func (s *service) secure(files secure.Files) (*secure.TLS, error) {
	c, err := files.Load()
	if err != nil {
		return nil, err
	}
	// Benchmarks have many handshakes begin at once, all from one address.
	s.tls = secure.NewWith(c, secure.Limits{RunningOfOne: 64})
	s.again = make(chan os.Signal, 1)
	signal.Notify(s.again, syscall.SIGHUP) // which ends a process that doesn't listen
	return s.tls, nil
}

// reload has SIGHUP read the files again, until ctx ends: connections that come from then on go by
// what they say now. Where they can't be read all stays as it is.
func (s *service) reload(ctx context.Context, files secure.Files) {
	defer signal.Stop(s.again)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.again:
		}
		c, err := files.Load()
		if err != nil {
			slog.Error("kv keeps its certificates", "error", err)
			continue
		}
		s.tls.Set(c)
		slog.Info("kv has read its certificates again")
	}
}
