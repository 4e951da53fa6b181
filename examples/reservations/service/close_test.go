package service

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/examples/reservations/store/storetest"
)

// TestCloseDrains: Close accepts no more connections, and what is in flight is answered.
func TestCloseDrains(t *testing.T) {
	st := newSlow()
	s := newService(t, st, Config{Partitions: 1, StoreLimit: time.Minute})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()

	answered := make(chan int, 1)
	go func() {
		r, _ := http.NewRequest("PUT", "http://"+l.Addr().String()+"/v1/items/tea/stock", strings.NewReader(`{"quantity":1}`))
		r.Header.Set("Idempotency-Key", "k")
		r.Close = true
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			answered <- 0
			return
		}
		w.Body.Close()
		answered <- w.StatusCode
	}()
	<-st.begun
	closed := make(chan error, 1)
	go func() { closed <- s.system.Shutdown(context.Background()) }()
	require.NoError(t, <-served) // nothing is accepted any more
	select {
	case err := <-closed:
		t.Fatal("closed while a request was in flight:", err)
	default:
	}
	close(st.goOn)
	require.Equal(t, 200, <-answered)
	require.NoError(t, <-closed)
}

// TestStartFails: without a store that gives what it has, there is an error and nothing else.
func TestStartFails(t *testing.T) {
	_, err := Start(context.Background(), Config{})
	require.Error(t, err)
	f := &storetest.Faulty{Store: &storetest.Memory{}}
	f.Set(storetest.Down)
	_, err = Start(context.Background(), Config{Store: f, Partitions: 2, Logger: slog.New(slog.DiscardHandler)})
	require.ErrorIs(t, err, ErrStoreDown)
	f.Set(storetest.Taken)
	_, err = Start(context.Background(), Config{Store: f, Partitions: 2, Logger: slog.New(slog.DiscardHandler)})
	require.ErrorIs(t, err, ErrLost)
}
