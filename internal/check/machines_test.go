package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"testing"
)

// A machine is the word, or the words, of a state machine: fields that only one file of their room
// writes, where its states stand as a list and its transitions as functions. Where they come from
// another room, whose methods write them, there is no such file.
type machine struct {
	room, file string
	fields     []string
	what       string
}

// machines are fields by their names, so in their rooms no other field that is written has these.
var machines = []machine{
	{"stack", "call_state.go", []string{"state", "mode"}, "what a stack is doing"},
	{"stack/turn", "turn.go", []string{"holder"}, "whose turn of a worker it is"},
	{"stack/rendezvous", "cell.go", []string{"word"}, "what a goroutine and the worker that answers it have agreed on"},
	{"stack/flags", "flags.go", []string{"bits"}, "the flags of a house, and how many of its calls wait"},
	{"stack", "", []string{"ID", "State", "Timer", "When", "Bound", "Owner", "Call", "Err"}, "a promise: see the methods of future.Promise"},
	{"stack/giveup", "word.go", []string{"state"}, "whether the asker of a call has given up"},
	{"channel", "inflight.go", []string{"After", "Before", "Aside", "Holds", "heldBack"}, "where a request of a connection stands"},
	{"stack/lifecycle", "machine.go", []string{"phase", "todo"}, "where an actor is in its life"},
}

// writers are the methods of atomics that write.
var writers = []string{"Store", "Swap", "CompareAndSwap", "Add", "And", "Or"}

func TestMachines(t *testing.T) {
	report(t, owned(ours(t), machines))
}

// owned is the gate: it finds the writes to words of machines outside their files.
func owned(t *tree, machines []machine) []string {
	var problems []string
	for _, m := range machines {
		inside := 0
		for _, s := range t.rooms[m.room] {
			if s.test {
				continue
			}
			for _, w := range writes(s.file, m.fields) {
				if m.file != "" && path.Base(s.path) == m.file {
					inside++
					continue
				}
				to := "call its transitions"
				if m.file != "" {
					to = "call a transition of " + path.Join(m.room, m.file)
				}
				problems = append(problems, fmt.Sprintf("%s: writes %s, %s; %s", t.at(w), w.Sel.Name, m.what, to))
			}
		}
		if m.file != "" && inside == 0 {
			problems = append(problems, fmt.Sprintf("machines: nothing in %s writes %v", path.Join(m.room, m.file), m.fields))
		}
	}
	return problems
}

// writes returns the fields of these names that a file writes, or takes the address of.
func writes(file *ast.File, fields []string) (all []*ast.SelectorExpr) {
	see := func(e ast.Expr) {
		if s, ok := ast.Unparen(e).(*ast.SelectorExpr); ok && slices.Contains(fields, s.Sel.Name) {
			all = append(all, s)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				see(e)
			}
		case *ast.IncDecStmt:
			see(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				see(n.X)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(writers, f.Sel.Name) {
				see(f.X)
			}
		}
		return true
	})
	return all
}

func TestMachinesFindsWhatIsRefused(t *testing.T) {
	table := []machine{{"a", "state.go", []string{"word"}, "what it does"}, {"a", "", []string{"Done"}, "a promise"}}
	fine := map[string]string{
		"a/state.go":     "package a\n\ntype m struct{ word int }\n\nfunc (x *m) set() { x.word = 1 }",
		"a/read.go":      "package a\n\nfunc (x *m) get() int { word := x.word; word++; return word }",
		"a/read_test.go": "package a\n\nfunc (x *m) bad() { x.word = 2 }",
		"b/other.go":     "package b\n\ntype m struct{ word int }\n\nfunc (x *m) set() { x.word = 1 }",
	}
	expect(t, owned(sketch(t, fine), table))
	for text, want := range map[string]string{
		"x.word = 2":                  "a/bad.go:3: writes word, what it does; call a transition of a/state.go",
		"(x.word), _ = 2, 3":          "writes word",
		"x.word++":                    "writes word",
		"x.word |= 2":                 "writes word",
		"p := &x.word; *p = 2":        "writes word",
		"x.word.Store(2)":             "writes word",
		"x.word.CompareAndSwap(1, 2)": "writes word",
		"x.Done = true":               "writes Done, a promise; call its transitions",
	} {
		texts := map[string]string{"a/bad.go": "package a\n\nfunc (x *m) f() { " + text + " }"}
		for name, text := range fine {
			texts[name] = text
		}
		expect(t, owned(sketch(t, texts), table), want)
	}
	expect(t, owned(sketch(t, map[string]string{"a/read.go": fine["a/read.go"]}), table), "nothing in a/state.go writes [word]")
}
