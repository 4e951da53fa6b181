package httphost_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/house/httphost"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk answers, or fails, as it is asked to.
type desk struct{ begun chan string }

type deskStack struct {
	core.AskStack[string, []byte]
	tick core.Future[core.Tick]
}

var (
	deskAsk  = core.Handle((*desk).ask)
	errOther = errors.New("secret")
)

func (d *desk) ask(s *deskStack) core.Yield {
	word, rest, _ := strings.Cut(s.Req, " ")
	switch word {
	case "teapot":
		return s.Throw(&httphost.Error{Status: http.StatusTeapot, Text: "short and stout"})
	case "fail":
		return s.Throw(errOther)
	case "panic":
		panic(errOther)
	case "end":
		core.Shutdown(s)
	case "wait":
		after, err := time.ParseDuration(rest)
		if err != nil {
			return s.Throw(err)
		}
		if d.begun != nil {
			d.begun <- word
		}
		core.Timer.Ask(s, &s.tick, after)
		return core.Suspend(s, (*desk).waited)
	}
	return s.Return(s.Copy([]byte("said " + s.Req)))
}

func (d *desk) waited(s *deskStack) core.Yield {
	if _, err := s.tick.Get(); err != nil {
		return s.Throw(err)
	}
	return s.Return([]byte("waited"))
}

func handlerOf(a core.Address[desk], limit time.Duration) http.Handler {
	return httphost.Handler[string, []byte]{
		Port:  deskAsk.At(a),
		Limit: limit,
		Read: func(w http.ResponseWriter, r *http.Request) (string, error) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 100))
			if string(body) == "bad" {
				return "", errors.New("not that word")
			}
			return string(body), err
		},
		Write: func(w http.ResponseWriter, _ *http.Request, rep *[]byte) { w.Write(*rep) },
	}
}

func start(t *testing.T, c house.Config) *house.System {
	t.Helper()
	c.Logger = housetest.Log(t)
	sys, err := house.New(c)
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	t.Cleanup(func() { sys.Shutdown(context.Background()) })
	return sys
}

func TestHandler(t *testing.T) {
	sys := start(t, house.Config{Workers: 1})
	a := core.Spawn(sys, func() *desk { return &desk{} })
	stopped := core.Spawn(sys, func() *desk { return &desk{} })
	began := time.Now()
	require.NoError(t, stopped.StopWait(t.Context()))
	for _, c := range []struct {
		to     core.Address[desk]
		body   string
		status int
		want   string
	}{
		{a, "this", http.StatusOK, "said this"},
		{a, "teapot", http.StatusTeapot, "short and stout\n"},
		{a, "fail", http.StatusInternalServerError, "Internal Server Error\n"},
		{a, "panic", http.StatusInternalServerError, "Internal Server Error\n"},
		{a, "wait 1h", http.StatusGatewayTimeout, "Gateway Timeout\n"},
		{a, "bad", http.StatusBadRequest, "not that word\n"},
		{a, strings.Repeat("long", 26), http.StatusRequestEntityTooLarge, "Request Entity Too Large\n"},
		{stopped, "this", http.StatusServiceUnavailable, "Service Unavailable\n"},
		{a, "again", http.StatusOK, "said again"},
	} {
		w := httptest.NewRecorder()
		handlerOf(c.to, 50*time.Millisecond).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body)))
		require.Equal(t, c.status, w.Code, c.body)
		require.Equal(t, c.want, w.Body.String(), c.body)
		require.Equal(t, c.status == http.StatusServiceUnavailable, w.Header().Get("Retry-After") == "1", c.body)
	}
	require.Less(t, time.Since(began), 4*time.Second, "the limit is shorter than what the system has")
}

// TestStatus: what wasn't tried may be repeated; nobody is told of a program's own errors.
func TestStatus(t *testing.T) {
	for err, want := range map[error]int{
		core.ErrMailboxFull: http.StatusServiceUnavailable,
		core.ErrBreakerOpen: http.StatusServiceUnavailable,
		core.ErrOverloaded:  http.StatusServiceUnavailable,
		core.ErrStopped:     http.StatusServiceUnavailable,
		core.ErrRestarted:   http.StatusServiceUnavailable,
		core.ErrNoMember:    http.StatusServiceUnavailable,
		core.ErrNotStarted:  http.StatusServiceUnavailable,
		core.ErrCancelled:   http.StatusServiceUnavailable,
		core.ErrTimeout:     http.StatusGatewayTimeout,
		core.ErrPanic:       http.StatusInternalServerError,
		core.ErrUnanswered:  http.StatusInternalServerError,
		errOther:            http.StatusInternalServerError,
		fmt.Errorf("wrapped: %w", &httphost.Error{Status: 451}): 451,
	} {
		require.Equal(t, want, httphost.Status(err), err)
	}
}

// TestOwnFail: a handler may answer failures itself.
func TestOwnFail(t *testing.T) {
	sys := start(t, house.Config{Workers: 1})
	h := handlerOf(core.Spawn(sys, func() *desk { return &desk{} }), 0).(httphost.Handler[string, []byte])
	h.Fail = func(w http.ResponseWriter, r *http.Request, err error) {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, r.URL.Path, " ", errors.Is(err, errOther))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/path", strings.NewReader("fail")))
	require.Equal(t, http.StatusConflict, w.Code)
	require.Equal(t, "/path true", w.Body.String())
}

// TestClientGoes: who goes gives its ask up.
func TestClientGoes(t *testing.T) {
	sys := start(t, house.Config{Workers: 1})
	d := &desk{begun: make(chan string)}
	h := handlerOf(core.Spawn(sys, func() *desk { return d }), 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("wait 1h")).WithContext(ctx))
		done <- w.Code
	}()
	<-d.begun
	cancel()
	require.Equal(t, http.StatusServiceUnavailable, <-done)
}

// served is a server over a real socket.
type served struct {
	sys  *house.System
	url  string
	desk *desk
	done chan error
}

func serve(t *testing.T, ctx context.Context, c house.Config) *served {
	t.Helper()
	s := &served{sys: start(t, c), desk: &desk{begun: make(chan string, 1)}, done: make(chan error, 1)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.url = "http://" + l.Addr().String()
	server := &http.Server{Handler: handlerOf(core.Spawn(s.sys, func() *desk { return s.desk }), 0)}
	go func() { s.done <- httphost.Serve(ctx, s.sys, server, l) }()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return s
}

func (s *served) post(body string) (string, error) {
	r, err := http.Post(s.url, "text/plain", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return string(b), err
}

// TestServeEndsTheServerFirst: what is in progress when ctx ends is answered, by actors that are
// there still; nobody connects meanwhile.
func TestServeEndsTheServerFirst(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, ctx, house.Config{Workers: 1})
	got, err := s.post("this")
	require.NoError(t, err)
	require.Equal(t, "said this", got)
	late := make(chan string, 1)
	go func() {
		got, err := s.post("wait 300ms")
		late <- fmt.Sprint(got, err)
	}()
	<-s.desk.begun
	cancel()
	<-s.sys.Ending()
	require.Eventually(t, func() bool {
		_, err := s.post("that")
		return err != nil
	}, 5*time.Second, 10*time.Millisecond)
	require.Equal(t, "waited<nil>", <-late)
	require.NoError(t, <-s.done)
}

// TestServeEndsWithTheSystem: an actor may end all.
func TestServeEndsWithTheSystem(t *testing.T) {
	s := serve(t, t.Context(), house.Config{Workers: 1})
	got, err := s.post("end")
	require.NoError(t, err)
	require.Equal(t, "said end", got)
	require.NoError(t, <-s.done)
}

// TestServeCutsOff: what takes longer than a shutdown may is cut off, and the error says so.
func TestServeCutsOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, ctx, house.Config{Workers: 1, ShutdownTimeout: 100 * time.Millisecond})
	cut := make(chan error, 1)
	go func() {
		_, err := s.post("wait 1h")
		cut <- err
	}()
	<-s.desk.begun
	cancel()
	require.ErrorIs(t, <-s.done, context.DeadlineExceeded)
	require.Error(t, <-cut)
}

// TestServeFails: a listener that fails ends all, and its error is told.
func TestServeFails(t *testing.T) {
	sys := start(t, house.Config{Workers: 1})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.ErrorIs(t, httphost.Serve(t.Context(), sys, &http.Server{}, l), net.ErrClosed)
	<-sys.Done()
}

// TestServeOfASystemThatHasEnded serves nobody.
func TestServeOfASystemThatHasEnded(t *testing.T) {
	sys := start(t, house.Config{Workers: 1})
	require.NoError(t, sys.Shutdown(t.Context()))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, httphost.Serve(t.Context(), sys, &http.Server{}, l))
	_, err = net.Dial("tcp", l.Addr().String())
	require.Error(t, err)
}
