package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Client talks to one service. Any goroutine may use it.
type Client struct {
	base string
	http *http.Client
}

// New makes a client of the service at an address such as 127.0.0.1:8080, for so many goroutines
// at once.
func New(address string, goroutines int) *Client {
	return &Client{"http://" + address, &http.Client{
		Timeout: 15 * time.Second,
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxIdleConnsPerHost: goroutines,
			DisableCompression:  true,
		},
	}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Item is an item as the service shows it.
type Item struct {
	SKU       string `json:"sku"`
	Stock     int64  `json:"stock"`
	Held      int64  `json:"held"`
	Confirmed int64  `json:"confirmed"`
	Available int64  `json:"available"`
}

// Reservation is a reservation as the service shows it.
type Reservation struct {
	ID       string `json:"id"`
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
	State    string `json:"state"`
}

// Counts is what a service has done since it began.
type Counts struct {
	Requests int64 `json:"requests"`
	Changes  int64 `json:"changes"`
	Writes   int64 `json:"writes"`
}

// Error is a reply that is no answer.
type Error struct {
	Status     int    `json:"-"`
	RetryAfter string `json:"-"`
	Code       string `json:"error"`
	Text       string `json:"message"`
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Text) }

// Repeat reports whether the service asks for the same request again, with the same key: it is
// busy, or its store is.
func (e *Error) Repeat() bool {
	return e.Status == http.StatusServiceUnavailable || e.Status == http.StatusGatewayTimeout
}

// SetStock says how many pieces of an item there are.
func (c *Client) SetStock(ctx context.Context, key, sku string, quantity int64) (i Item, err error) {
	return i, c.do(ctx, "PUT", "/v1/items/"+sku+"/stock", key, quantity, &i)
}

// Reserve holds pieces of an item.
func (c *Client) Reserve(ctx context.Context, key, sku string, quantity int64) (r Reservation, err error) {
	return r, c.do(ctx, "POST", "/v1/items/"+sku+"/reservations", key, quantity, &r)
}

// End confirms or releases a reservation: what is one of these words.
func (c *Client) End(ctx context.Context, key, id, what string) (r Reservation, err error) {
	return r, c.do(ctx, "POST", "/v1/reservations/"+id+"/"+what, key, 0, &r)
}

// Item looks at an item.
func (c *Client) Item(ctx context.Context, sku string) (i Item, err error) {
	return i, c.do(ctx, "GET", "/v1/items/"+sku, "", 0, &i)
}

// Reservation looks at a reservation.
func (c *Client) Reservation(ctx context.Context, id string) (r Reservation, err error) {
	return r, c.do(ctx, "GET", "/v1/reservations/"+id, "", 0, &r)
}

// Counts looks at what the service has done.
func (c *Client) Counts(ctx context.Context) (n Counts, err error) {
	return n, c.do(ctx, "GET", "/v1/counts", "", 0, &n)
}

// do sends a request and reads its reply. The error is an *Error if the service spoke.
func (c *Client) do(ctx context.Context, method, path, key string, quantity int64, into any) error {
	var body io.Reader = http.NoBody
	if method == "PUT" || quantity > 0 {
		body = bytes.NewReader(fmt.Appendf(nil, `{"quantity":%d}`, quantity))
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body) // to the end, or the connection can't be used again
	if err != nil {
		return err
	}
	if w.StatusCode >= 300 {
		e := &Error{Status: w.StatusCode, RetryAfter: w.Header.Get("Retry-After")}
		if json.Unmarshal(text, e) != nil || e.Code == "" {
			return fmt.Errorf("client: status %d without a code: %q", w.StatusCode, text)
		}
		return e
	}
	return json.Unmarshal(text, into)
}
