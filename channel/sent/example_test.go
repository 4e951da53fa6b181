package sent_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/channel/sent"
)

func ExampleRequests() {
	r := sent.Make[string](10)
	r.Add("GET a", 0, 0, false)
	r.Add("GET b", 6, 0, false)
	written := uint64(6) // bytes, before the connection broke
	request, _, _ := r.Take()
	fmt.Println("a reply to", request)
	for request, at, ok := r.Take(); ok; request, at, ok = r.Take() {
		fmt.Println(request, "was sent:", at < written)
	}
	// Output:
	// a reply to GET a
	// GET b was sent: false
}
