package escapes

import "fmt"

// BadBox puts an int into an interface.
//
//alloc:none
func BadBox(n int) { keepAny = n }

// BadMoved keeps the address of a local.
//
//alloc:none
func BadMoved() {
	var n node
	keep = &n
}

// BadParam keeps the address of a parameter.
//
//alloc:none
func BadParam(n node) { keep = &n }

// BadInlined calls what allocates and is inlined.
//
//alloc:none
func BadInlined() { keep = fresh() }

func fresh() *node { return &node{} }

// BadMethodValue makes a closure of a method.
//
//alloc:none
func BadMethodValue(n *node) { keepAny = n.method }

func (n *node) method() {}

// BadLiteral allocates in a function literal.
//
//alloc:none
func BadLiteral() {
	func() {
		keepAny = new(int)
	}()
}

// BadMake has no bound that the compiler knows: past 32 bytes it allocates.
//
//alloc:none
func BadMake(n int) int {
	b := make([]int, n)
	return len(b)
}

// BadBoth inlines a box for a panic and another that is kept.
//
//alloc:none
func BadBoth(n int) { both(n) }

func both(n int) {
	if n < 0 {
		panic(n)
	}
	keepAny = n
}

// BadJoin joins strings.
//
//alloc:none
func BadJoin(a, b string) int {
	s := a + b
	return len(s) + int(s[0])
}

// BadError formats on the ordinary path.
//
//alloc:none
func BadError(n int) error { return fmt.Errorf("n is %d", n) }

// BadGeneric is instantiated in the test file only.
//
//alloc:none
func BadGeneric[T any](v T) { keepAny = v }

// BadFar is instantiated by another package only.
//
//alloc:none
func BadFar[T any](v T) *T { return &v }

type box[T any] struct{ v *T }

// BadMethod allocates in a generic type.
//
//alloc:none
func (b *box[T]) BadMethod(v T) { b.v = &v }

// BadUnseen is instantiated by nobody.
//
//alloc:none
func BadUnseen[T any](v T) T { return v }
