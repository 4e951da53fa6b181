package main

import (
	"errors"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// strangerLimits are the limits of clients that haven't given the password: Redis' own.
var strangerLimits = resp.Limits{MaxArgs: 10, MaxBulk: 16 << 10}

var (
	errStrangerArgs = errors.New("ERR Protocol error: unauthenticated multibulk length")
	errStrangerBulk = errors.New("ERR Protocol error: unauthenticated bulk length")
)

// Stranger implements channel.Gated.
func (c *codec) Stranger() bool { return c.stranger }

// decode decodes one command. If the command gives the right password the client may send longer
// ones from then on, for good: those behind it are decoded before the front has looked at the
// password.
func (c *codec) decode(in []byte, cmd *resp.Command) (int, error) {
	n, err := c.decoder.Decode(in, cmd)
	if c.stranger && (n > 0 || err != nil) {
		err = c.lookAtStranger(in, cmd, err)
	}
	return n, err
}

//go:noinline
func (c *codec) lookAtStranger(in []byte, cmd *resp.Command, err error) error {
	switch {
	case err == nil:
		if c.service.secret.isShown(cmd) {
			c.stranger, c.decoder = false, resp.NewDecoder(c.service.limits)
		}
	case err == resp.ErrMultibulkLength && !c.isWrong(in, err):
		return errStrangerArgs
	case err == resp.ErrBulkLength && !c.isWrong(in, err):
		return errStrangerBulk
	}
	return err
}

// isWrong reports whether clients that have given the password get err for in, too.
func (c *codec) isWrong(in []byte, err error) bool {
	var cmd resp.Command
	all := resp.NewDecoder(c.service.limits)
	_, other := all.Decode(in, &cmd)
	return other == err
}
