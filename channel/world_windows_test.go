package channel_test

import "github.com/stretchr/testify/require"

// arrived waits until there is a result to read. The client has taken it in then.
func (c *client) arrived() {
	c.t.Helper()
	_, err := c.r.Peek(1)
	require.NoError(c.t, err)
}
