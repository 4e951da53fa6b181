package secure_test

import (
	"crypto/tls"
	"fmt"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/internal/certs"
)

// New certificates hold for connections that come from then on.
func ExampleTLS_Set() {
	ca, _ := certs.NewCA()
	first, _ := ca.Issue([]string{"shop.test"})
	by := secure.New(&tls.Config{Certificates: []tls.Certificate{first}})
	// channel.Config{TLS: by, ...}

	second, _ := ca.Issue([]string{"shop.test"})
	by.Set(&tls.Config{Certificates: []tls.Certificate{second}})
	fmt.Printf("%+v\n", by.Stats())
	// Output: {Running:0 Waiting:0 Done:0 Failed:0 Replaced:0}
}
