package path_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/path"
)

// A path has the system and, for each actor on the way down the tree, its name.
func ExampleParse() {
	p, err := path.Parse("stackhouse://shop@10.0.0.7:7400/user/orders/order.42")
	up, _ := p.Parent()
	kind, id := p.Kind()
	fmt.Println(err, p.System(), p.Address(), up.Local(), kind, id)
	_, err = path.Parse("/users/orders")
	fmt.Println(err)
	// Output:
	// <nil> shop 10.0.0.7:7400 /user/orders order 42
	// stackhouse: no path of an actor: "/users/orders" is neither below /user nor below /system
}
