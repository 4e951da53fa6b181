package httphost

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/stackhouse-go/stackhouse/house"
)

// Serve serves connections of l until ctx ends, the server fails, or sys, which must have been
// started, begins to shut down. Then it shuts sys down, and returns when that is over. Whoever
// begins the shutdown, the server ends first: it accepts no more connections, and answers requests
// in progress. Requests that aren't answered within house.Config.ShutdownTimeout are cut off, and
// the error says so.
func Serve(ctx context.Context, sys *house.System, server *http.Server, l net.Listener) error {
	sys.AddShutdownHook(house.ShutdownHook{Name: "net/http", Run: func(ctx context.Context) error {
		err := server.Shutdown(ctx)
		if err != nil {
			server.Close() // its error is about listeners, which are closed already
		}
		return err
	}})
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	var failed error
	select {
	case <-ctx.Done():
	case <-sys.Ending():
	case failed = <-served:
		served <- nil
	}
	err := sys.Shutdown(context.WithoutCancel(ctx))
	server.Close() // in case the shutdown began before the hook was added
	<-served
	if errors.Is(failed, http.ErrServerClosed) {
		failed = nil
	}
	return errors.Join(failed, err)
}
