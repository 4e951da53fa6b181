package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/internal/certs"
)

// identity is what a node shows, and whom it believes.
type identity struct {
	cert   tls.Certificate
	change func(*tls.Config)
	trusts *certs.CA
	plain  bool
}

func (id identity) config() (*secure.TLS, bool) {
	if id.plain {
		return nil, true
	}
	c := &tls.Config{Certificates: []tls.Certificate{id.cert}, RootCAs: id.trusts.Pool(), ClientCAs: id.trusts.Pool(),
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}
	if id.change != nil {
		id.change(c)
	}
	return secure.New(c), false
}

// securing returns what makes the TLS of nodes by their names, all of one authority.
func securing(t *testing.T) func(name string) *secure.TLS {
	ca := newCA(t)
	return func(name string) *secure.TLS {
		cert, err := ca.Issue([]string{name})
		require.NoError(t, err)
		c, _ := identity{cert: cert, trusts: ca}.config()
		return c
	}
}

// TestG20Identities: nodes meet if and only if each has a certificate with its name, of an
// authority that the other one believes.
func TestG20Identities(t *testing.T) {
	ca, stranger := newCA(t), newCA(t)
	issue := func(by *certs.CA, names []string, change ...func(*x509.Certificate)) tls.Certificate {
		c, err := by.Issue(names, change...)
		require.NoError(t, err)
		return c
	}
	expired := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	}
	early := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	}
	nameless := func(c *x509.Certificate) { c.DNSNames = nil }
	serverOnly := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	clientOnly := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }
	named := func(name string, change ...func(*x509.Certificate)) identity {
		return identity{cert: issue(ca, []string{name}, change...), trusts: ca}
	}
	with := func(id identity, change func(*tls.Config)) identity { id.change = change; return id }
	shows := func(id, too identity) identity { // and has no key of the other one
		id.cert.Certificate = slices.Concat(id.cert.Certificate, too.cert.Certificate)
		return id
	}
	here, there := named("here"), named("there")
	for name, c := range map[string]struct {
		here, there identity
		meet        bool
	}{
		"both":                     {here, there, true},
		"several names":            {identity{cert: issue(ca, []string{"other", "here"}), trusts: ca}, there, true},
		"dialled another":          {here, named("elsewhere"), false},
		"dialled nobody":           {here, identity{cert: issue(ca, []string{"there"}, nameless), trusts: ca}, false},
		"dialled one in the stars": {here, named("*.there"), false},
		"dialled a louder one":     {here, named("THERE"), false},
		"asked by a louder one":    {named("HERE"), there, false},
		"dialled a stranger":       {here, identity{cert: issue(stranger, []string{"there"}), trusts: ca}, false},
		"dialled an old one":       {here, named("there", expired), false},
		"dialled one of tomorrow":  {here, named("there", early), false},
		"dialled a client":         {here, named("there", clientOnly), false},
		"dialled without TLS":      {here, identity{plain: true}, false},
		"asked by another":         {named("elsewhere"), there, false},
		"asked by nobody":          {identity{cert: issue(ca, []string{"here"}, nameless), trusts: ca}, there, false},
		"asked by there itself":    {named("there"), there, false},
		"asked by a stranger":      {identity{cert: issue(stranger, []string{"here"}), trusts: ca}, there, false},
		"asked by an old one":      {named("here", expired), there, false},
		"asked by one of tomorrow": {named("here", early), there, false},
		"asked by a server":        {named("here", serverOnly), there, false},
		"asked without TLS":        {identity{plain: true}, there, false},
		"asked without a name":     {with(here, func(c *tls.Config) { c.Certificates = nil }), there, false},
		"asked by 1.2":             {with(here, func(c *tls.Config) { c.MinVersion, c.MaxVersion = 0, tls.VersionTLS12 }), there, false},
		"dialled 1.2":              {here, with(there, func(c *tls.Config) { c.MinVersion, c.MaxVersion = 0, tls.VersionTLS12 }), false},
		"both 1.2": {with(here, func(c *tls.Config) { c.MinVersion, c.MaxVersion = 0, tls.VersionTLS12 }),
			with(there, func(c *tls.Config) { c.MinVersion, c.MaxVersion = 0, tls.VersionTLS12 }), false},
		"asks for no name": {identity{cert: issue(stranger, []string{"here"}), trusts: ca},
			with(there, func(c *tls.Config) { c.ClientAuth = tls.RequestClientCert }), false},
		"wants no name": {with(here, func(c *tls.Config) { c.Certificates = nil }),
			with(there, func(c *tls.Config) { c.ClientAuth = tls.NoClientCert }), false},
		"believes no name": {with(here, func(c *tls.Config) { c.InsecureSkipVerify = true }),
			identity{cert: issue(stranger, []string{"there"}), trusts: ca}, false},
		"here trusts a stranger":             {identity{cert: here.cert, trusts: stranger}, there, false},
		"there trusts a stranger":            {here, identity{cert: there.cert, trusts: stranger}, false},
		"asked by one in stars":              {named("*.here"), there, false},
		"asked by one who shows here's, too": {shows(named("elsewhere"), here), there, false},
		"dialled one who shows there's, too": {here, shows(named("elsewhere"), there), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timing := session.Timing{Patience: 15e8, BackoffMin: 1e7, BackoffMax: 1e8}
			tlsThere, plainThere := c.there.config()
			there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", TLS: tlsThere, Plaintext: plainThere, Timing: timing})
			_, err := core.SpawnWith(there.sys, func() *counter { return &counter{} }, core.Props{Name: "counter"})
			require.NoError(t, err)
			tlsHere, plainHere := c.here.config()
			here := newPlace(t, Config{Name: "here", TLS: tlsHere, Plaintext: plainHere, Peers: map[string]string{"there": there.node.Addr()}, Timing: timing})
			far, err := here.node.Lookup(t.Context(), "there", "/user/counter")
			if !c.meet {
				require.ErrorIs(t, err, ErrUnreachable)
				require.ErrorIs(t, err, core.ErrNotSent, "nothing was sent to whom one doesn't believe")
				there.node.look(t, func(h *hub) {
					for _, l := range h.links {
						require.Zero(t, l.tracks[0].in.Position(), "no frame was read")
					}
				})
				return
			}
			require.NoError(t, err)
			rep, err := core.Ask(t.Context(), add.At(far), addReq{4})
			require.NoError(t, err)
			require.Equal(t, 8, rep.Sum)
		})
	}
}

func newCA(t *testing.T) *certs.CA {
	ca, err := certs.NewCA()
	require.NoError(t, err)
	return ca
}
