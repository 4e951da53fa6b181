package check

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Time, chance, system calls and goroutines enter at one seam each, and no
// decision depends on what a seed can't repeat. So these are refused outside
// tests, bench and examples, but in the files of the permits.

// functions are refused wherever they are named, called or not.
var functions = map[string]map[string]string{
	"time": {
		"Now":       "take the time as an argument; a worker reads its clock once a turn",
		"Since":     "subtract two times that you were given",
		"Until":     "subtract two times that you were given",
		"Sleep":     "ask a timer port",
		"After":     "ask a timer port",
		"AfterFunc": "ask a timer port",
		"Tick":      "ask a timer port",
		"NewTimer":  "ask a timer port",
		"NewTicker": "ask a timer port",
	},
	"sync":    {"Pool": "use a pool of package pool: nothing depends on when the collector runs"},
	"runtime": {"SetFinalizer": collector, "AddCleanup": collector},
	"github.com/stackhouse-go/stackhouse/netio": {"Listen": byPoller, "Share": byPoller, "Accept": byPoller, "Connect": byPoller, "ConnectError": byPoller,
		"Read": byPoller, "Write": byPoller, "Writev": byPoller, "SetNoDelay": byPoller, "Shutdown": byPoller, "Unsent": byPoller,
		"Close": byPoller, "LocalAddr": byPoller, "RemoteAddr": byPoller},
}

const byPoller = "call the poller's method: its network may be a simulated one"

const collector = "release it where its owner ends: nothing depends on when the collector runs"

// imports are refused as such.
var imports = map[string]string{
	"math/rand":    "take a seeded source as an argument",
	"math/rand/v2": "take a seeded source as an argument",
	"syscall":      "go through netio or house: a raw system call belongs behind their contract",
	"unsafe":       "find another way, or add the file to the permits with the test that covers it",
}

// trees are import paths refused with all below them, under one name.
var trees = map[string]string{
	"golang.org/x/sys": imports["syscall"],
}

// exempt rooms run programs: they may do what they like.
var exempt = []string{"bench/...", "examples/..."}

func TestSeams(t *testing.T) {
	report(t, seams(ours(t), permits))
}

// A use is one place where a refused thing is used.
type use struct {
	what, at, instead string
}

// seams is the gate: it compares the uses in every file with the permits.
func seams(t *tree, permits []permit) []string {
	var problems []string
	used := make([]bool, len(permits))
	judged := 0
	for _, s := range t.sources {
		if s.test || slices.ContainsFunc(exempt, func(e string) bool { return within(s.room, e) }) {
			continue
		}
		judged++
		for _, u := range uses(t, s) {
			i := slices.IndexFunc(permits, func(p permit) bool { return p.allows(s.path, u.what) })
			if i >= 0 {
				used[i] = true
				continue
			}
			problems = append(problems, fmt.Sprintf("%s: %s outside its seam; %s", u.at, u.what, u.instead))
		}
	}
	if judged == 0 {
		problems = append(problems, "seams: no file to look at: is this the right folder?")
	}
	for i, p := range permits {
		problems = append(problems, p.judge(t, used[i])...)
	}
	return problems
}

// uses lists what a file uses of the refused things.
func uses(t *tree, s *source) []use {
	var found []use
	add := func(n ast.Node, what, instead string) {
		found = append(found, use{what, t.at(n), instead})
	}
	names := map[string]string{} // the file's name of an import: its path
	for _, imp := range s.file.Imports {
		at, _ := strconv.Unquote(imp.Path.Value)
		if instead, ok := imports[at]; ok {
			add(imp, at, instead)
		}
		for top, instead := range trees {
			if within(at, top+"/...") {
				add(imp, top, instead)
			}
		}
		if functions[at] == nil {
			continue
		}
		names[importName(imp, at)] = at
		if imp.Name != nil && imp.Name.Name == "." {
			add(imp, "dot import of "+at, "write its name, so that its uses can be seen")
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			if instead, ok := functions[names[x.Name]][n.Sel.Name]; ok {
				add(n, names[x.Name]+"."+n.Sel.Name, instead)
			}
		case *ast.GoStmt:
			add(n, "go", "a goroutine can't be driven by a seed: use a step, a timer or the offload pool")
		case *ast.SelectStmt:
			if ways(n) > 1 {
				add(n, "select", "a select of several ways picks by chance: wait for one thing, or poll each in a fixed order")
			}
		}
		return true
	})
	for _, g := range s.file.Comments {
		for _, c := range g.List {
			if strings.HasPrefix(c.Text, "//go:linkname") {
				add(c, "linkname", "use what the standard library exports")
			}
		}
	}
	return found
}

func importName(imp *ast.ImportSpec, at string) string {
	if imp.Name != nil {
		return imp.Name.Name
	}
	return path.Base(at)
}

// ways counts the communications of a select; default is none.
func ways(s *ast.SelectStmt) int {
	n := 0
	for _, c := range s.Body.List {
		if c.(*ast.CommClause).Comm != nil {
			n++
		}
	}
	return n
}
