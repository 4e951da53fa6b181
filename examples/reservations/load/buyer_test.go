package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/examples/reservations/client"
)

// serve answers requests by turns, and returns a client of it and how many came.
func serve(t *testing.T, replies ...int) (*client.Client, *atomic.Int64) {
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i := int(n.Add(1)-1) % len(replies)
		w.WriteHeader(replies[i])
		_, _ = io.WriteString(w, `{"error":"store_down","message":"","id":"0-1"}`)
	}))
	t.Cleanup(server.Close)
	c := client.New(strings.TrimPrefix(server.URL, "http://"), 1)
	t.Cleanup(c.Close)
	return c, &n
}

// TestStoreAwayForAMoment: a write that took too long ended the whole load.
func TestStoreAwayForAMoment(t *testing.T) {
	c, n := serve(t, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusCreated)
	b := buyer{client: c, until: time.Now().Add(time.Minute)}
	b.measure(t.Context(), func() error { _, err := c.Reserve(t.Context(), "key", "sku", 1); return err })
	require.NoError(t, b.err)
	require.Equal(t, 2, b.repeated)
	require.EqualValues(t, 3, n.Load())
	require.Len(t, b.took, 1)
	require.GreaterOrEqual(t, b.took[0], 2*pause, "what was repeated counts as one request")
}

// TestRepeatedIsTheSame: a key that comes again with another request is refused.
func TestRepeatedIsTheSame(t *testing.T) {
	seen := map[string]string{}
	var n int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		text, key := r.Method+r.URL.Path+string(body), r.Header.Get("Idempotency-Key")
		if old, again := seen[key]; key != "" && again && old != text {
			t.Errorf("%s, then %s", old, text)
		}
		seen[key] = text
		if n++; n%3 != 0 { // one at a time: there is one client
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, `{"error":"store_down","id":"0-1"}`)
	}))
	defer server.Close()
	c := client.New(strings.TrimPrefix(server.URL, "http://"), 1)
	defer c.Close()
	b := buyer{client: c, items: 1000, until: time.Now().Add(20 * pause)}
	b.buy(t.Context())
	require.NoError(t, b.err)
	require.Greater(t, b.repeated, 4)
}

// TestBugIsNotRepeated: only what the service asks for is sent again.
func TestBugIsNotRepeated(t *testing.T) {
	for _, status := range []int{http.StatusInternalServerError, http.StatusConflict} {
		c, n := serve(t, status)
		b := buyer{client: c, items: 1, until: time.Now().Add(time.Minute)}
		b.buy(t.Context())
		require.Error(t, b.err)
		require.EqualValues(t, 1, n.Load())
		require.Zero(t, b.repeated)
	}
}

// TestStoreAwayForLong: a load ends with the service's last word.
func TestStoreAwayForLong(t *testing.T) {
	c, n := serve(t, http.StatusServiceUnavailable)
	ctx, cancel := context.WithTimeout(t.Context(), 3*pause)
	defer cancel()
	b := buyer{client: c, items: 1, until: time.Now().Add(time.Minute)}
	b.measure(ctx, func() error { _, err := c.Item(t.Context(), "sku"); return err })
	require.ErrorContains(t, b.err, "store_down")
	require.Positive(t, n.Load())
}
