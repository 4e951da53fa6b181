package secure

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// Files is PEM files from which a config can be loaded, and loaded again when they have changed.
type Files struct {
	Cert, Key string // a certificate, with those between it and its CA, and its key; "": none
	// CA is the authorities that the other end's certificate must be of: clients without one aren't
	// served. A server without CA asks for no certificate; a client believes those of the system.
	CA string
}

// Load returns a config for servers and clients: a new one each time, without what users have set
// in others, such as NextProtos or VerifyConnection.
func (f Files) Load() (*tls.Config, error) {
	c := &tls.Config{}
	if (f.Cert == "") != (f.Key == "") {
		return nil, fmt.Errorf("secure: a certificate, %q, needs a key, %q, and the other way round", f.Cert, f.Key)
	}
	if f.Cert != "" {
		cert, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, fmt.Errorf("secure: %s and %s: %w", f.Cert, f.Key, err)
		}
		c.Certificates = []tls.Certificate{cert}
	}
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		if err == nil {
			c.RootCAs = x509.NewCertPool()
			if !c.RootCAs.AppendCertsFromPEM(text) {
				err = errors.New("there is no certificate in " + f.CA)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("secure: %w", err)
		}
		c.ClientCAs, c.ClientAuth = c.RootCAs, tls.RequireAndVerifyClientCert
	}
	return c, nil
}
