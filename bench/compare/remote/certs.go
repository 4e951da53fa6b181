package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/internal/certs"
)

// certsIn is the variable that tells both processes where their certificates are.
const certsIn = "REMOTE_CERTS"

// issue makes the certificates of both nodes, in a directory.
func issue(dir string) error {
	ca, err := certs.NewCA()
	if err != nil {
		return err
	}
	all := []error{os.WriteFile(filepath.Join(dir, "ca.pem"), ca.PEM(), 0o600)}
	for _, name := range []string{"sink", "source"} {
		c, err := ca.Issue([]string{name})
		if err != nil {
			return err
		}
		cert, key, err := certs.PEM(c)
		all = append(all, err, os.WriteFile(filepath.Join(dir, name+".pem"), cert, 0o600),
			os.WriteFile(filepath.Join(dir, name+".key"), key, 0o600))
	}
	return errors.Join(all...)
}

// identity loads the certificate of one.
func identity(name string) (*secure.TLS, error) {
	dir := os.Getenv(certsIn)
	return cluster.Identity(secure.Files{Cert: filepath.Join(dir, name+".pem"), Key: filepath.Join(dir, name+".key"), CA: filepath.Join(dir, "ca.pem")})
}
