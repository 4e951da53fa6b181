//go:build linux

package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/secure"
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

// runTLS is run over TLS, one message at a time for each connection.
func runTLS(s shape, d time.Duration, roots *x509.CertPool, command func(port string) []string) (ns float64, err error) {
	port, err := freePort()
	if err != nil {
		return 0, err
	}
	server := exec.Command("taskset", append([]string{"-c", "0"}, command(port)...)...)
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	conns, err := dialAll(s.conns, "127.0.0.1:"+port, &tls.Config{RootCAs: roots})
	if err != nil {
		return 0, err
	}
	defer func() {
		for _, c := range conns {
			c.NetConn().Close()
		}
	}()
	// Short records at first, which crypto/tls makes longer later, are for the time before.
	if _, err = echoAll(conns, s.size, max(d/4, 500*time.Millisecond)); err != nil {
		return 0, err
	}
	before, err := cpuTime(server.Process.Pid)
	if err != nil {
		return 0, err
	}
	messages, err := echoAll(conns, s.size, d)
	if err != nil {
		return 0, err
	}
	after, err := cpuTime(server.Process.Pid)
	return float64(after-before) / float64(messages), err
}

// dialAll opens connections, one after the other, to a server that may just be starting.
func dialAll(n int, address string, c *tls.Config) (all []*tls.Conn, err error) {
	for began := time.Now(); len(all) < n; {
		conn, err := tls.Dial("tcp", address, c)
		if err == nil {
			all = append(all, conn)
		} else if time.Since(began) > 5*time.Second {
			return nil, err
		}
	}
	return all, nil
}

// echoAll sends messages of a size over all connections, and returns how many came back in d.
func echoAll(conns []*tls.Conn, size int, d time.Duration) (messages int64, err error) {
	var n atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, len(conns))
	end := time.Now().Add(d)
	for i, c := range conns {
		group.Go(func() {
			buffer := make([]byte, size)
			for time.Now().Before(end) && errs[i] == nil {
				if _, errs[i] = c.Write(buffer); errs[i] == nil {
					_, errs[i] = io.ReadFull(c, buffer)
				}
				n.Add(1)
			}
		})
	}
	group.Wait()
	if n.Load() == 0 {
		err = errors.New("the server has sent nothing back")
	}
	return n.Load(), errors.Join(append(errs, err)...)
}
