package path

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClimb(t *testing.T) {
	var c Climb
	c.Add("order.42", 7)
	c.Add("", 5)
	c.Add("orders", 3)
	require.Equal(t, "/user/orders/$5/order.42", c.Local())
	c.System = true
	require.Equal(t, "/system/orders/$5/order.42", c.Local())
	_, err := Parse(c.Local())
	require.NoError(t, err)
}
