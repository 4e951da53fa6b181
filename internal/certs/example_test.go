package certs_test

import (
	"crypto/x509"
	"fmt"

	"github.com/stackhouse-go/stackhouse/internal/certs"
)

func Example() {
	ca, _ := certs.NewCA()
	c, err := ca.Issue([]string{"shop.test", "127.0.0.1"})
	if err != nil {
		panic(err)
	}
	cert, _ := x509.ParseCertificate(c.Certificate[0])
	for _, name := range []string{"shop.test", "127.0.0.1", "bank.test"} {
		_, err = cert.Verify(x509.VerifyOptions{DNSName: name, Roots: ca.Pool()})
		fmt.Println(name, err == nil)
	}
	// Output:
	// shop.test true
	// 127.0.0.1 true
	// bank.test false
}
