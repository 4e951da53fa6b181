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

func ExampleSet() {
	var names copied.Set[string]
	welcome := func(string) bool { return false }
	names.Add("ann", welcome)
	names.Add("bob", welcome)
	before := names.All()
	names.Remove("ann")
	names.Add("bob", welcome)
	names.Add("cem", func(name string) bool { return len(name) < 4 })
	fmt.Println(before, names.All())
	// Output: [ann bob] [bob]
}
