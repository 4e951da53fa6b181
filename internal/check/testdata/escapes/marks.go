package escapes

// BadSpace has a space in its mark.
//
// alloc:none
func BadSpace() {}

//alloc:none
type BadPlace struct{}

func inner() {
	//alloc:none
	keep = nil // BadInside
}
