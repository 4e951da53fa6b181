package service

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/examples/reservations/ledger"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newService starts one that is closed at the end of the test.
func newService(t *testing.T, s store.Store, c Config) *Service {
	t.Helper()
	c.Store, c.Logger = s, slog.New(slog.DiscardHandler)
	if c.Partitions == 0 {
		c.Partitions = 3
	}
	svc, err := Start(context.Background(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close(context.Background())) })
	return svc
}

// send returns the status of a request, and its body with the white space taken out. what is
// method, path, key and body.
func send(s *Service, what string) (status int, body string, header http.Header) {
	return sendIn(context.Background(), s, what)
}

func sendIn(ctx context.Context, s *Service, what string) (status int, body string, header http.Header) {
	f := append(strings.SplitN(what, " ", 4), "", "")
	r := httptest.NewRequestWithContext(ctx, f[0], f[1], strings.NewReader(f[3]))
	r.Host = "localhost:8080"
	if f[2] != "" && f[2] != "-" {
		r.Header.Set("Idempotency-Key", f[2])
	}
	w := httptest.NewRecorder()
	s.server.Handler.ServeHTTP(w, r)
	var text bytes.Buffer
	if json.Compact(&text, w.Body.Bytes()) != nil {
		return w.Code, "not JSON: " + w.Body.String(), w.Header()
	}
	return w.Code, text.String(), w.Header()
}

// code returns the error of a reply.
func code(body string) string {
	var f failure
	json.Unmarshal([]byte(body), &f)
	return f.Code
}

// TestConversation: what README.md shows.
func TestConversation(t *testing.T) {
	s := newService(t, &storetest.Memory{}, Config{})
	for _, c := range []struct {
		request string
		status  int
		body    string
	}{
		{"GET /v1/items/tea", 404, "unknown_item"},
		{`PUT /v1/items/tea/stock k1 {"quantity":10}`, 200, `{"sku":"tea","stock":10,"held":0,"confirmed":0,"available":10}`},
		{`POST /v1/items/tea/reservations k2 {"quantity":3}`, 201, `{"id":"2-2","sku":"tea","quantity":3,"state":"held"}`},
		{`POST /v1/items/tea/reservations k2 {"quantity":3}`, 201, `{"id":"2-2","sku":"tea","quantity":3,"state":"held"}`},
		{`POST /v1/items/tea/reservations k2 {"quantity":4}`, 422, "key_reused"},
		{`POST /v1/items/tea/reservations k3 {"quantity":8}`, 409, "out_of_stock"},
		{`POST /v1/items/tea/reservations k3 {"quantity":7}`, 201, `{"id":"2-3","sku":"tea","quantity":7,"state":"held"}`},
		{`POST /v1/reservations/2-2/confirm k4`, 200, `{"id":"2-2","sku":"tea","quantity":3,"state":"confirmed"}`},
		{`POST /v1/reservations/2-2/confirm k4`, 200, `{"id":"2-2","sku":"tea","quantity":3,"state":"confirmed"}`},
		{`POST /v1/reservations/2-2/release k5`, 409, "not_held"},
		{`POST /v1/reservations/2-3/release k6`, 200, `{"id":"2-3","sku":"tea","quantity":7,"state":"released"}`},
		{`GET /v1/reservations/2-3`, 200, `{"id":"2-3","sku":"tea","quantity":7,"state":"released"}`},
		{`GET /v1/items/tea`, 200, `{"sku":"tea","stock":10,"held":0,"confirmed":3,"available":7}`},
		{`PUT /v1/items/tea/stock k7 {"quantity":2}`, 409, "stock_below_reserved"},
		{`PUT /v1/items/tea/stock k7 {"quantity":3}`, 200, `{"sku":"tea","stock":3,"held":0,"confirmed":3,"available":0}`},
		{`GET /v1/counts`, 200, `{"requests":18,"changes":6,"writes":6}`}, // with what Start asked
	} {
		status, body, header := send(s, c.request)
		require.Equal(t, c.status, status, "%s: %s", c.request, body)
		if status < 300 {
			require.Equal(t, c.body, body, c.request)
		} else {
			require.Equal(t, c.body, code(body), c.request)
		}
		require.Equal(t, "application/json", header.Get("Content-Type"))
	}
}

// TestBadRequests: each is refused with a status and a code, and nothing is lost.
func TestBadRequests(t *testing.T) {
	s := newService(t, &storetest.Memory{}, Config{})
	send(s, `PUT /v1/items/tea/stock stock {"quantity":10}`)
	for request, want := range map[string]struct {
		status int
		code   string
	}{
		"GET /":                {404, "no_such_path"},
		"DELETE /v1/items/tea": {404, "no_such_path"},
		"GET /v1/items/t%20ea": {400, "bad_sku"},
		"GET /v1/items/" + strings.Repeat("x", 65):                                             {400, "bad_sku"},
		`POST /v1/items/tea/reservations - {"quantity":1}`:                                     {400, "key_missing"},
		`PUT /v1/items/tea/stock - {"quantity":1}`:                                             {400, "key_missing"},
		`POST /v1/reservations/1-1/confirm`:                                                    {400, "key_missing"},
		`POST /v1/items/tea/reservations kä {"quantity":1}`:                                    {400, "bad_key"},
		`PUT /v1/items/tea/stock ` + strings.Repeat("k", 129):                                  {400, "bad_key"},
		`POST /v1/items/tea/reservations k {"quantity":0}`:                                     {400, "bad_quantity"},
		`POST /v1/items/tea/reservations k {"quantity":-1}`:                                    {400, "bad_quantity"},
		`POST /v1/items/tea/reservations k {"quantity":1.5}`:                                   {400, "bad_body"},
		`POST /v1/items/tea/reservations k {"quantity":1e30}`:                                  {400, "bad_body"},
		`POST /v1/items/tea/reservations k {"quantity":"1"}`:                                   {400, "bad_body"},
		`POST /v1/items/tea/reservations k {"quantity":1000000001}`:                            {400, "bad_quantity"},
		`POST /v1/items/tea/reservations k {}`:                                                 {400, "bad_quantity"},
		`POST /v1/items/tea/reservations k {"quantity":1,"x":1}`:                               {400, "unknown_field"},
		`POST /v1/items/tea/reservations k {"Quantity":1}`:                                     {400, "unknown_field"},
		`POST /v1/items/tea/reservations k {"quantity":1,"QUANTITY":2}`:                        {400, "unknown_field"},
		`POST /v1/items/tea/reservations k {"quantity":1,"quantity":2}`:                        {400, "field_twice"},
		`POST /v1/items/tea/reservations k {"quantity":null,"quantity":2}`:                     {400, "field_twice"},
		`POST /v1/items/tea/reservations k {"quantity":1}{}`:                                   {400, "bad_body"},
		`POST /v1/items/tea/reservations k {"quantity":1`:                                      {400, "bad_body"},
		`POST /v1/items/tea/reservations k [1]`:                                                {400, "bad_body"},
		`POST /v1/items/tea/reservations k`:                                                    {400, "bad_body"},
		`POST /v1/items/tea/reservations k {"quantity":1` + strings.Repeat(" ", bodyMax) + `}`: {413, "body_too_large"},
		`POST /v1/reservations/1-1/confirm k {"quantity":1}`:                                   {400, "unknown_field"},
		`POST /v1/reservations/1-1/release k x`:                                                {400, "bad_body"},
		`POST /v1/reservations/1-1/release k ` + strings.Repeat(" ", bodyMax+1):                {413, "body_too_large"},
		`POST /v1/reservations/1-1/confirm k {}`:                                               {404, "unknown_reservation"},
		`POST /v1/reservations/1/confirm k`:                                                    {400, "bad_id"},
		`POST /v1/reservations/01-1/confirm k`:                                                 {400, "bad_id"},
		`POST /v1/reservations/1-0/confirm k`:                                                  {400, "bad_id"},
		`POST /v1/reservations/1--1/confirm k`:                                                 {400, "bad_id"},
		`POST /v1/reservations/1-99999999999999999999/confirm k`:                               {400, "bad_id"},
		// there is no such partition
		`POST /v1/reservations/3-1/confirm k`: {404, "unknown_reservation"},
		`POST /v1/reservations/0-1/confirm k`: {404, "unknown_reservation"},
		`GET /v1/reservations/0-1`:            {404, "unknown_reservation"},
	} {
		status, body, _ := send(s, request)
		require.Equal(t, want.status, status, "%s: %s", request, body)
		require.Equal(t, want.code, code(body), request)
	}
	_, body, _ := send(s, "GET /v1/items/tea")
	require.Equal(t, `{"sku":"tea","stock":10,"held":0,"confirmed":0,"available":10}`, body)
}

// TestOutage: each way in which the service can't help has its status and its code, and says when
// to come again.
func TestOutage(t *testing.T) {
	f := &storetest.Faulty{Store: &storetest.Memory{}}
	s := newService(t, f, Config{Partitions: 1})
	status, _, _ := send(s, `PUT /v1/items/rum/stock rum {"quantity":1}`)
	require.Equal(t, 200, status)
	_, _, header := send(s, "GET /v1/items/rum")
	require.Empty(t, header.Get("Age"))
	const request = `PUT /v1/items/tea/stock k {"quantity":1}`
	f.Set(storetest.Down)
	status, body, header := send(s, request)
	require.Equal(t, 503, status)
	require.Equal(t, "outcome_unknown", code(body))
	require.Equal(t, "1", header.Get("Retry-After"))
	status, body, header = send(s, request)
	require.Equal(t, 503, status)
	require.Equal(t, "store_down", code(body))
	require.Equal(t, "1", header.Get("Retry-After"))
	status, body, header = send(s, "GET /v1/items/rum")
	require.Equal(t, 200, status, body)
	require.Regexp(t, "^[1-9][0-9]*$", header.Get("Age"))
	f.Set(storetest.None)
	require.Eventually(t, func() bool { status, _, _ := send(s, request); return status == 200 }, 10*time.Second, time.Millisecond)
}

// TestLost: the service says that it has to end.
func TestLost(t *testing.T) {
	f := &storetest.Faulty{Store: &storetest.Memory{}}
	s := newService(t, f, Config{Partitions: 1})
	f.Set(storetest.Taken)
	status, body, _ := send(s, `PUT /v1/items/tea/stock k {"quantity":1}`)
	require.Equal(t, 503, status)
	require.Equal(t, "outcome_unknown", code(body))
	require.ErrorIs(t, <-s.Lost(), store.ErrFenced)
	status, body, _ = send(s, "GET /v1/items/tea")
	require.Equal(t, 503, status)
	require.Equal(t, "not_owner", code(body))
}

// slow is a store whose writes wait to be let go.
type slow struct {
	storetest.Memory
	begun chan struct{} // a write is under way
	goOn  chan struct{}
}

func newSlow() *slow { return &slow{begun: make(chan struct{}, 100), goOn: make(chan struct{})} }

func (s *slow) Write(ctx context.Context, partition int, epoch int64, c *ledger.Change) error {
	s.begun <- struct{}{}
	select {
	case <-s.goOn:
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.Memory.Write(ctx, partition, epoch, c)
}

// TestTimeout: who gave up repeats the request, and gets its outcome.
func TestTimeout(t *testing.T) {
	st := newSlow()
	s := newService(t, st, Config{Partitions: 1, RequestLimit: 20 * time.Millisecond, StoreLimit: time.Minute})
	const request = `PUT /v1/items/tea/stock k {"quantity":1}`
	status, body, _ := send(s, request)
	require.Equal(t, 504, status)
	require.Equal(t, "timeout", code(body))
	close(st.goOn)
	require.Eventually(t, func() bool { status, _, _ := send(s, request); return status == 200 }, 10*time.Second, time.Millisecond)
	counts, err := s.Counts(t.Context()) // not through the front, which has 20 ms
	require.NoError(t, err)
	require.EqualValues(t, 1, counts.Changes)
	require.EqualValues(t, 1, counts.Writes)
}

// TestGaveUp: who gives up before the write begins is taken back: nothing of it is written, and
// its place is free.
func TestGaveUp(t *testing.T) {
	st := newSlow()
	s := newService(t, st, Config{Partitions: 1, QueueMax: 1, StoreLimit: time.Minute})
	within := func(limit time.Duration, request string) string {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		_, body, _ := sendIn(ctx, s, request)
		return code(body)
	}
	probe := func() string { return within(20*time.Millisecond, `PUT /v1/items/probe/stock c {"quantity":1}`) }
	first, second := make(chan int, 1), make(chan string, 1)
	go func() {
		status, _, _ := send(s, `PUT /v1/items/first/stock a {"quantity":1}`)
		first <- status
	}()
	<-st.begun
	go func() {
		end := "overloaded" // while a probe waits
		for end == "overloaded" {
			end = within(300*time.Millisecond, `PUT /v1/items/second/stock b {"quantity":1}`)
		}
		second <- end
	}()
	// the second is in
	require.Eventually(t, func() bool { return probe() == "overloaded" }, 10*time.Second, time.Millisecond)
	require.Equal(t, "timeout", <-second)
	// it is out
	require.Eventually(t, func() bool { return probe() == "timeout" }, 10*time.Second, time.Millisecond)
	close(st.goOn)
	require.Equal(t, 200, <-first)
	status, _, _ := send(s, "GET /v1/items/second")
	require.Equal(t, 404, status)
}

// TestFull: too many requests that wait are refused with a time to come again; those that wait
// are answered.
func TestFull(t *testing.T) {
	st := newSlow()
	s := newService(t, st, Config{Partitions: 1, QueueMax: 1, StoreLimit: time.Minute})
	answers := make(chan int, 2)
	put := func(key string) {
		status := http.StatusServiceUnavailable // while a probe waits
		for status == http.StatusServiceUnavailable {
			status, _, _ = send(s, `PUT /v1/items/tea/stock `+key+` {"quantity":1}`)
		}
		answers <- status
	}
	go put("a")
	<-st.begun
	go put("b") // waits
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		status, body, header := sendIn(ctx, s, `PUT /v1/items/probe/stock c {"quantity":1}`)
		return status == 503 && code(body) == "overloaded" && header.Get("Retry-After") == "1"
	}, 10*time.Second, time.Millisecond)
	close(st.goOn)
	require.Equal(t, 200, <-answers)
	require.Equal(t, 200, <-answers)
}

// TestForeign: a request that a web page of others may have sent is refused, and changes nothing.
func TestForeign(t *testing.T) {
	s := newService(t, &storetest.Memory{}, Config{Hosts: []string{"Shop.example"}})
	at := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 8080}
	for _, c := range []struct {
		host, origin, code string
	}{
		{"localhost:8080", "", ""},
		{"LOCALHOST", "", ""},
		{"127.0.0.1:8080", "", ""},
		{"[::1]:8080", "", ""},
		{"10.0.0.7:8080", "", ""},
		{"shop.example", "", ""},
		{"shop.example:8080", "https://shop.example:8080", ""},
		{"localhost:8080", "http://localhost:8080", ""},
		{"evil.example:8080", "", "foreign_host"},
		{"evil.example:8080", "http://evil.example:8080", "foreign_host"},
		{"localhost.evil.example", "", "foreign_host"},
		{"10.0.0.8:8080", "", "foreign_host"},
		{"", "", "foreign_host"},
		{"localhost:8080", "http://evil.example", "foreign_origin"},
		{"localhost:8080", "http://localhost:3000", "foreign_origin"},
		{"localhost:8080", "null", "foreign_origin"},
	} {
		for _, method := range []string{"PUT", "GET"} {
			path := map[string]string{"PUT": "/v1/items/tea/stock", "GET": "/v1/counts"}[method]
			r := httptest.NewRequest(method, path, strings.NewReader(`{"quantity":1}`))
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, at))
			r.Host = c.host
			r.Header.Set("Idempotency-Key", "k")
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			w := httptest.NewRecorder()
			s.server.Handler.ServeHTTP(w, r)
			want := 200
			if c.code != "" {
				want = 403
			}
			require.Equal(t, want, w.Code, "%s: %+v", method, c)
			require.Equal(t, c.code, code(w.Body.String()), "%s: %+v", method, c)
		}
	}
	counts, err := s.Counts(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, counts.Changes)
}
