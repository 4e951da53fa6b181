package secure_test

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/internal/certs"
)

// Certificates of files are read again, as after SIGHUP: those hold for connections that come from
// then on. What the files don't say is set each time.
func ExampleTLS_Set() {
	files, remove := certificates() // secure.Files{Cert: "server.pem", …, CA: "clients.pem"}
	defer remove()
	config := func() (*tls.Config, error) {
		c, err := files.Load()
		if err == nil {
			c.NextProtos = []string{"lines", "frames"} // see channel.Config.CodecFor
			c.VerifyConnection = isFriend
		}
		return c, err
	}
	first, err := config()
	if err != nil {
		fmt.Println(err)
		return
	}
	by := secure.New(first)
	// channel.Config{TLS: by, ...}

	if again, err := config(); err != nil {
		fmt.Println("the certificates stay:", err)
	} else {
		by.Set(again)
	}
	fmt.Printf("%+v\n", by.Stats())
	// Output: {Running:0 Waiting:0 Done:0 Failed:0 Replaced:0}
}

// isFriend runs on a goroutine: it may ask an actor, by core.Ask.
func isFriend(s tls.ConnectionState) error {
	if name := s.PeerCertificates[0].Subject.CommonName; name != "ann" {
		return fmt.Errorf("%s is no friend", name)
	}
	return nil
}

// certificates are files as examples/certs makes them.
func certificates() (files secure.Files, remove func()) {
	dir, err := os.MkdirTemp("", "certs")
	if err != nil {
		panic(err)
	}
	ca, _ := certs.NewCA()
	c, _ := ca.Issue([]string{"shop.test"})
	cert, key, _ := certs.PEM(c)
	files = secure.Files{Cert: filepath.Join(dir, "server.pem"), Key: filepath.Join(dir, "server.key"), CA: filepath.Join(dir, "clients.pem")}
	for name, text := range map[string][]byte{files.Cert: cert, files.Key: key, files.CA: ca.PEM()} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			panic(err)
		}
	}
	return files, func() { os.RemoveAll(dir) }
}
