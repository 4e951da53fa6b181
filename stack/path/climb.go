package path

import (
	"fmt"
	"slices"
	"strings"
)

// Climb is the way from an actor up to the top, of which a local path is made. The zero Climb has
// not begun.
type Climb struct {
	parts  []string
	System bool // it ends below /system
}

// Add adds the actor itself, then its parent, and so on. One without a name is called by its
// number.
func (c *Climb) Add(name string, number uint64) {
	if name == "" {
		name = fmt.Sprintf("$%d", number)
	}
	c.parts = append(c.parts, name)
}

// Local returns where the actor stands, as in "/user/orders/order.42".
func (c *Climb) Local() string {
	root := User
	if c.System {
		root = System
	}
	down := append(slices.Clone(c.parts), root)
	slices.Reverse(down)
	return "/" + strings.Join(down, "/")
}
