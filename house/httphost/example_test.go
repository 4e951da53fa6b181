package httphost_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/httphost"
)

// Counter counts visits.
type Counter struct{ n int }

func (c *Counter) visit(s *core.AskStack[string, string]) core.Yield {
	c.n++
	return s.Return(fmt.Sprintf("%s is visitor %d", s.Req, c.n))
}

var counterVisit = core.Handle((*Counter).visit)

// An actor behind a path of an http.ServeMux. In a program, Serve would serve it.
func ExampleHandler() {
	sys, err := house.New(house.Config{Workers: 1})
	if err != nil {
		panic(err)
	}
	if err := sys.Start(context.Background()); err != nil {
		panic(err)
	}
	defer sys.Shutdown(context.Background())
	counter := core.Spawn(sys, func() *Counter { return &Counter{} })

	mux := http.NewServeMux()
	mux.Handle("GET /hello/{name}", httphost.Handler[string, string]{
		Port:  counterVisit.At(counter),
		Read:  func(_ http.ResponseWriter, r *http.Request) (string, error) { return r.PathValue("name"), nil },
		Write: func(w http.ResponseWriter, _ *http.Request, rep *string) { fmt.Fprint(w, *rep) },
	})

	for _, name := range []string{"Ada", "Grace"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hello/"+name, nil))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 Ada is visitor 1
	// 200 Grace is visitor 2
}
