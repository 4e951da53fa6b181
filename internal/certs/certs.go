package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"time"
)

// CA is a certificate authority.
type CA struct {
	Cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewCA makes a CA.
func NewCA() (*CA, error) {
	ca := &CA{}
	der, key, err := ca.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "a CA for trying things out"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	if err != nil {
		return nil, err
	}
	ca.key = key
	ca.Cert, err = x509.ParseCertificate(der)
	return ca, err
}

// Issue makes a certificate of a host or client with these names, which may be IP addresses, and
// its key. Each of change may change it before it is signed.
func (ca *CA) Issue(names []string, change ...func(*x509.Certificate)) (tls.Certificate, error) {
	c := &x509.Certificate{Subject: pkix.Name{CommonName: names[0]}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	for _, f := range change {
		f(c)
	}
	der, key, err := ca.sign(c)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// sign has the CA sign c, or a CA that has no certificate yet itself.
func (ca *CA) sign(c *x509.Certificate) (der []byte, key *ecdsa.PrivateKey, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	if c.NotAfter.IsZero() {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	}
	parent, by := ca.Cert, ca.key
	if parent == nil {
		parent, by = c, key
	}
	der, err = x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	return der, key, err
}

// Pool returns the roots of who believes the CA.
func (ca *CA) Pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(ca.Cert)
	return p
}

// PEM returns the certificate as files have it.
func (ca *CA) PEM() []byte { return certPEM(ca.Cert.Raw) }

// PEM returns a certificate of Issue and its key as files have them.
func PEM(c tls.Certificate) (cert, key []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	return certPEM(c.Certificate[0]), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

func certPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
