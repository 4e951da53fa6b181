package away_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/away"
	"github.com/stackhouse-go/stackhouse/stack/command"
)

type (
	house struct{ name string }
	call  struct{ text string }
)

// printer is a Remote that prints.
type printer struct{ fits int }

func (p *printer) Ready(*house) bool                   { return p.fits > 0 }
func (p *printer) Take(h *house, c *call)              { p.fits--; fmt.Println(h.name, "gets", c.text) }
func (p *printer) Forget(h *house, c *call)            { fmt.Println(c.text, "was given up") }
func (p *printer) Command(h *house, what command.Verb) { fmt.Println(h.name, "is to", what) }
func (p *printer) Node() string                        { return "shop" }
func (p *printer) Await(h *house, is bool)             { fmt.Println(h.name, "is awaited:", is) }

func ExampleRemote() {
	var r away.Remote[house, call] = &printer{fits: 2}
	far, calls := &house{"far"}, []*call{{"one"}, {"two"}, {"three"}}
	for _, c := range calls {
		if r.Ready(far) {
			r.Take(far, c)
		}
	}
	r.Forget(far, calls[1])
	r.Command(far, command.Stop)
	// Output:
	// far gets one
	// far gets two
	// two was given up
	// far is to stop
}
