package copied_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/internal/copied"
)

func Example() {
	var names copied.Value[[]string]
	names.Change(func(*[]string) *[]string { return &[]string{"ann"} })
	before := names.Load()
	names.Change(func(old *[]string) *[]string {
		more := append([]string{"bob"}, *old...)
		return &more
	})
	fmt.Println(*before, *names.Load())
	// Output: [ann] [bob ann]
}
