package cluster

import (
	"context"
	"crypto/tls"
	"errors"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/house"
)

// Client is a node for programs that have no actors of their own: it dials, and nobody dials it.
// Any goroutine may use it. Routers over several nodes are made of what Lookup returns: see
// core.Group and core.HandlerOf.
type Client struct {
	*Node
	system *house.System
}

// Dial makes a Client. It returns at once: nodes are dialled when they are first asked.
// Config.Listen must be empty. Config.Name is of this process alone: two clients of one name are
// taken for two lives of one, and only the later one is answered.
func Dial(ctx context.Context, c Config) (*Client, error) {
	if c.Listen != "" {
		return nil, errors.New("cluster: a Client that listens is a node: see Start")
	}
	sys, err := house.New(house.Config{Workers: 1})
	if err != nil {
		return nil, err
	}
	if err = sys.Start(ctx); err != nil {
		return nil, err
	}
	n, err := Start(ctx, sys, c)
	if err != nil {
		return nil, errors.Join(err, sys.Shutdown(context.Background()))
	}
	return &Client{n, sys}, nil
}

// System returns the system in which the client's routers, and what watches, may live.
func (c *Client) System() *house.System { return c.system }

// Close ends the client: what is away ends with ErrUnreachable.
func (c *Client) Close(ctx context.Context) error {
	return errors.Join(c.Node.Close(ctx), c.system.Shutdown(ctx))
}

// Identity loads what a node shows, and whom it believes, both ways: its certificate must have the
// node's name, and CA vouches for all others. TLS is 1.3.
func Identity(f secure.Files) (*secure.TLS, error) {
	if f.CA == "" {
		return nil, errors.New("cluster: no authority that vouches for other nodes")
	}
	c, err := f.Load()
	if err != nil {
		return nil, err
	}
	c.MinVersion = tls.VersionTLS13
	return secure.New(c), nil
}
