//go:build linux

package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/netio"
)

// secrets are the files of TLS, in a folder.
type secrets struct{ cert, key string }

// newSecrets makes the files, and returns who believes them.
func newSecrets(dir string) (*secrets, *x509.CertPool, error) {
	if out, err := exec.Command("go", "run", "./examples/certs", "-dir", dir, "127.0.0.1").CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("certs: %w\n%s", err, out)
	}
	c, err := secure.Files{CA: filepath.Join(dir, "ca.pem")}.Load()
	if err != nil {
		return nil, nil, err
	}
	return &secrets{filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")}, c.RootCAs, nil
}

// serveStandard echoes as package net's users do, with a goroutine for each connection. It never
// returns but by an error.
func serveStandard(address, cert, key string) error {
	c, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return err
	}
	l, err := tls.Listen("tcp", address, &tls.Config{Certificates: []tls.Certificate{c}})
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			buffer := make([]byte, 16<<10) // as much as a record has
			for {
				n, err := conn.Read(buffer)
				if err != nil {
					return
				}
				if _, err = conn.Write(buffer[:n]); err != nil {
					return
				}
			}
		}()
	}
}

// secure has the connection speak TLS: first it waits until the handshake is over.
func (c *client) secure(roots *x509.CertPool) error {
	socket := &socket{client: c, waits: true}
	c.tls = tls.Client(socket, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"})
	err := c.tls.Handshake()
	socket.waits = false
	return err
}

// socket is a client's, for crypto/tls.
type socket struct {
	net.Conn // none
	client   *client
	waits    bool // Read waits for bytes
}

func (s *socket) Read(p []byte) (int, error) {
	for {
		n, err := s.client.load.poller.Read(s.client.fd, p)
		if err != netio.ErrAgain {
			return n, err
		}
		if !s.waits {
			return 0, errAgain
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func (s *socket) Write(p []byte) (int, error) {
	return s.client.load.poller.Write(s.client.fd, p)
}

func (s *socket) Close() error { return nil }

// errAgain is netio.ErrAgain, as something that crypto/tls doesn't take for the end.
var errAgain error = &net.OpError{Op: "read", Err: syscall.EAGAIN}
