package giveup_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/giveup"
)

// An asker gives a call up, and the answer comes home before the house has taken the call from the
// chain.
func ExampleWord() {
	var w giveup.Word
	w.Chain()
	fmt.Println("who brings the answer puts it:", !w.Answer())
	fmt.Println("who hears of it puts it:", !w.Heed())
	// Output:
	// who brings the answer puts it: false
	// who hears of it puts it: true
}
