package check

import (
	"strings"
	"testing"
)

// blueprint is a small policy, sound and a tree that keeps to it; each test breaks the tree in
// one way.
const blueprint = `
floor 0
	low
floor 1
	mid -> low
	next
	twin -> low
	planned shed
	internal/bolt
floor 2
	top -> mid
	house/housetest -> mid
floor 3
	demo/... -> anything
nobody imports floor 3
top !-> twin
`

var sound = map[string]string{
	"low/low.go":                 "package low",
	"mid/mid.go":                 `package mid; import _ "m.test/m/low"`,
	"next/next.go":               "package next",
	"internal/bolt/bolt.go":      "package bolt",
	"twin/twin.go":               "package twin",
	"top/top.go":                 `package top; import (_ "fmt"; _ "m.test/m/low"; _ "m.test/m/mid"; _ "out.test/sys/unix")`,
	"house/housetest/h.go":       "package housetest",
	"demo/kv/kv.go":              `package main; import (_ "m.test/m/twin"; _ "m.test/m/demo/kv/table")`,
	"demo/kv/table/table.go":     "package table",
	"top/inner_test.go":          `package top; import (_ "m.test/m/twin"; _ "m.test/m/house/housetest"; _ "out.test/assert/x")`,
	"low/outer_test.go":          `package low_test; import (_ "m.test/m/low"; _ "m.test/m/top"; _ "out.test/sys/unix")`,
	"mid/testdata/bad/import.go": `package bad; import _ "m.test/m/top"`,
}

var outsiders = []module{
	{"out.test/sys", []string{"top"}, "ask top"},
	{"out.test/assert", nil, "only tests assert"},
}

func TestFloorsFindsForbiddenImports(t *testing.T) {
	p, err := parse(blueprint)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, floors(sketch(t, sound), p, outsiders))
	for _, c := range []struct{ name, file, text, want string }{
		{"up", "low/up.go", "package low\n\nimport _ \"m.test/m/top\"", "low/up.go:3: low imports m.test/m/top: top is on floor 2, not below 0; declare the interface"},
		{"beside", "mid/twin.go", `package mid; import _ "m.test/m/twin"`, "twin is on floor 1, not below 1"},
		{"no arrow", "top/twin.go", `package top; import _ "m.test/m/twin"`, "there is no arrow from top to twin; it may import low, mid"},
		{"behind a build tag", "top/w.go", "//go:build windows\n\npackage top; import _ \"m.test/m/twin\"", "top/w.go:3: top imports"},
		{"top floor", "top/demo.go", `package top; import _ "m.test/m/demo/kv/table"`, "nobody imports floor 3"},
		{"internal", "demo/kv/b.go", `package main; import _ "m.test/m/internal/bolt"`, "there is no arrow from demo/... to internal/bolt"},
		{"neighbour's folder", "demo/b/b.go", `package main; import _ "m.test/m/demo/kv/table"`, "nobody imports floor 3"},
		{"top floor, outer test", "top/d_test.go", `package top_test; import _ "m.test/m/demo/kv/table"`, "nobody imports floor 3"},
		{"inner test", "low/a_test.go", `package low; import _ "m.test/m/mid"`, "a test of package low_test may"},
		{"test helper", "mid/h.go", `package mid; import _ "m.test/m/house/housetest"`, "house/housetest is on floor 2"},
		{"unknown room", "top/gone.go", `package top; import _ "m.test/m/gone"`, "no such room"},
		{"outside module", "mid/sys.go", `package mid; import _ "out.test/sys/unix"`, "mid imports out.test/sys/unix: only top may; ask top"},
		{"outside module, inner test", "mid/sys_test.go", `package mid; import _ "out.test/sys"`, "only top may"},
		{"test module", "mid/assert.go", `package mid; import _ "out.test/assert"`, "only tests assert"},
		{"unlisted module", "top/x_test.go", `package top_test; import _ "out.test/system"`, "the policy does not list"},
		{"cgo", "top/c.go", `package top; import "C"`, "no part of this module uses cgo"},
		{"unlisted package", "attic/a.go", "package attic", "attic/a.go: package attic is not in the policy; choose its floor"},
		{"built", "shed/s.go", "package shed", "shed is built"},
	} {
		t.Run(c.name, func(t *testing.T) {
			texts := map[string]string{c.file: c.text}
			for name, text := range sound {
				texts[name] = text
			}
			expect(t, floors(sketch(t, texts), p, outsiders), c.want)
		})
	}
}

func TestFloorsFindsStaleLinesAndEmptyTrees(t *testing.T) {
	p, err := parse("floor 0\nlow\nplanned cellar")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, floors(sketch(t, nil), p, nil), "no file imports a package of this module", "low is not there; strike its line")
}

func TestPolicyRefusesContradictions(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"floor 0\na\nb -> a", "b -> a does not lead down"},
		{"floor 0\na -> b\nfloor 1\nb", "a -> b does not lead down"},
		{"floor 1\na -> b", "which has no line"},
		{"floor 0\na\na", "two lines for a"},
		{"floor 1\na\nfloor 0\nb", "floor 0 stands after floor 1"},
		{"a", "can't read"},
		{"floor 0\na ->", "can't read"},
		{"floor 0\na b", "can't read"},
		{"floor 0\na\nfloor 1\nb -> a\nfloor 2\nc -> b\nc !-> a", "c reaches a"},
		{"floor 0\na\nfloor 1\nb/c -> a\nb/... !-> a", "b/c reaches a"},
		{"floor 0\na\na !-> d", "without a line"},
	} {
		if _, err := parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("policy %q: error %v, want %q", c.text, err, c.want)
		}
	}
}
