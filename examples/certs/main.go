package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stackhouse-go/stackhouse/internal/certs"
)

func main() {
	dir := flag.String("dir", ".", "where the files are written")
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = []string{"localhost", "127.0.0.1", "::1"}
	}
	if err := write(*dir, names); err != nil {
		fmt.Fprintln(os.Stderr, "certs:", err)
		os.Exit(1)
	}
}

// write makes the files. The server's certificate is for names.
func write(dir string, names []string) error {
	ca, err := certs.NewCA()
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "ca.pem"), ca.PEM(), 0o644),
		issue(ca, dir, "server", names),
		issue(ca, dir, "client", []string{"client"}),
	)
}

// issue makes a certificate and its key.
func issue(ca *certs.CA, dir, who string, names []string) error {
	c, err := ca.Issue(names)
	if err != nil {
		return err
	}
	cert, key, err := certs.PEM(c)
	return errors.Join(err,
		os.WriteFile(filepath.Join(dir, who+".pem"), cert, 0o644),
		os.WriteFile(filepath.Join(dir, who+".key"), key, 0o600))
}
