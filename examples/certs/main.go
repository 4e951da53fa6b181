package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stackhouse-go/stackhouse/internal/certs"
)

func main() {
	dir := flag.String("dir", ".", "where the files are written")
	client := flag.String("client", "client", "names of clients, with commas: each gets a certificate")
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = []string{"localhost", "127.0.0.1", "::1"}
	}
	if err := write(*dir, names, strings.Split(*client, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "certs:", err)
		os.Exit(1)
	}
}

// write makes the files. The server's certificate is for names.
func write(dir string, names, clients []string) error {
	ca, err := certs.NewCA()
	if err != nil {
		return err
	}
	err = errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "ca.pem"), ca.PEM(), 0o644),
		issue(ca, dir, "server", names),
	)
	for _, name := range clients {
		err = errors.Join(err, issue(ca, dir, name, []string{name}))
	}
	return err
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
