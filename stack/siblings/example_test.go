package siblings_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/siblings"
)

type person struct {
	name  string
	links siblings.Links[person]
}

func linksOf(p *person) *siblings.Links[person] { return &p.links }

func ExampleList() {
	var l siblings.List[person]
	ann, bob, eve := &person{name: "Ann"}, &person{name: "Bob"}, &person{name: "Eve"}
	for _, p := range []*person{ann, bob, eve} {
		l.Add(p, linksOf)
	}
	l.Remove(bob, linksOf)
	for p := l.First(); p != nil; p = p.links.Next() {
		fmt.Println(p.name)
	}
	// Output:
	// Ann
	// Eve
}
