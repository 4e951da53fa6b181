package quota_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/quota"
)

func ExampleQuota() {
	q := quota.New(1)
	fmt.Println(q.Join(), q.Join())
	q.Leave()
	fmt.Println(q.Join())
	// Output:
	// true false
	// true
}
