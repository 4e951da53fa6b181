package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestEscapes(t *testing.T) {
	report(t, escapes(t, root))
}

// escapes is the gate: it compiles the module in dir as it ships, and holds what
// the compiler says about the heap against the marked functions.
//
// What is inlined is reported where it was inlined, so a marked function answers
// for it. A generic function is compiled only where it is instantiated: package
// instances does it for those that are for users alone, and a marked function
// of which the compiler said nothing is a problem.
func escapes(t *testing.T, dir string) []string {
	t.Helper()
	tr, err := plant(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	hots, problems, err := marks(tr, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(hots) == 0 {
		return append(problems, "escapes: no function is marked "+mark)
	}
	listen(dir, compile(t, dir, tr.module, append([]string{"list", "-export"}, shipped(tr, hots)...)), hots)
	for _, h := range hots {
		slices.Sort(h.broken)
		problems = append(problems, slices.Compact(h.broken)...)
		if !h.compiled {
			problems = append(problems, fmt.Sprintf("%s:%d: %s is marked %s but nobody instantiates it: internal/check/instances should", h.at.path, h.where.Line, h.name, mark))
		}
	}
	return problems
}

// shipped lists what to compile: all packages but programs, which would have to be linked, unless
// they hold a marked function.
func shipped(t *tree, hots []*hot) []string {
	rooms := map[string]bool{}
	for _, s := range t.sources {
		if !s.test && s.file.Name.Name != "main" {
			rooms["./"+s.room] = true
		}
	}
	for _, h := range hots {
		rooms["./"+h.at.room] = true
	}
	return slices.Sorted(maps.Keys(rooms))
}

// compile has the go command compile packages of the module, with the compiler's diagnostics
// switched on, and link nothing: it lists where the results are. From a warm cache it repeats
// what the compiler said.
func compile(t *testing.T, dir, module string, args []string) string {
	t.Helper()
	run := func(args []string) (string, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	loud := slices.Insert(slices.Clone(args), 1, "-gcflags="+module+"/...=-m=2")
	said, err := run(loud)
	if err != nil {
		if quiet, err := run(args); err != nil { // the error alone
			said = quiet
		}
		t.Fatalf("go %s: %v\n%s", strings.Join(loud, " "), err, said)
	}
	return said
}

var diagnostic = regexp.MustCompile(`(?m)^((\S+\.go):(\d+):(\d+): )(.*)$`)

// listen tells each marked function what the compiler said of it.
func listen(dir, said string, hots []*hot) {
	byFile := map[string][]*hot{}
	for _, h := range hots {
		byFile[h.at.path] = append(byFile[h.at.path], h)
	}
	lines := diagnostic.FindAllStringSubmatch(said, -1)
	dead := doomed(lines)
	for _, m := range lines {
		if dead[m[0]] {
			continue
		}
		line, _ := strconv.Atoi(m[3])
		column, _ := strconv.Atoi(m[4])
		for _, h := range byFile[below(dir, m[2])] {
			if h.body.holds(line, column) {
				h.hear(line, column, m[5])
			}
		}
	}
}

// doomed returns the diagnostics of what reaches the heap as the argument of a
// panic only, even one that was inlined from elsewhere. The compiler explains
// "x escapes to heap in F:" by indented lines, and sums up in "x escapes to heap".
func doomed(lines [][]string) map[string]bool {
	type fate struct{ heap, panics int }
	fates := map[string]*fate{}
	now := &fate{}
	for _, m := range lines {
		at, text := m[1], m[5]
		switch what, _, explained := strings.Cut(text, " escapes to heap in "); {
		case strings.HasPrefix(text, "  flow: {heap} "):
			now.heap++
		case strings.HasPrefix(text, "    from panic("):
			now.panics++
		case strings.HasPrefix(text, "  "):
		case explained && strings.HasSuffix(text, ":"):
			verdict := at + what + " escapes to heap"
			if fates[verdict] == nil {
				fates[verdict] = &fate{}
			}
			now = fates[verdict]
		default:
			now = &fate{} // of no interest
		}
	}
	dead := map[string]bool{}
	for verdict, f := range fates {
		dead[verdict] = f.panics > 0 && f.panics == f.heap
	}
	return dead
}

// hear takes in one diagnostic about a place in the function.
func (h *hot) hear(line, column int, message string) {
	itself := h.where.Line == line && h.where.Column == column
	if itself && (strings.HasPrefix(message, "can inline ") || strings.HasPrefix(message, "cannot inline ")) {
		h.compiled = true
	}
	what := allocation(message)
	switch {
	case what == "":
	case itself && h.generic:
		// In the wrapper of an instance, which repeats the body; that is reported in its own place.
	case slices.ContainsFunc(h.panics, func(p span) bool { return p.holds(line, column) }):
		// Nobody returns from it.
	default:
		h.broken = append(h.broken, fmt.Sprintf(
			"%s:%d:%d: %s is marked %s, but %s; move the slow path to a function marked //go:noinline, or look for the reason: go build -gcflags=-m=2 ./%s",
			h.at.path, line, column, h.name, mark, what, h.at.room))
	}
}

// below turns a path of the compiler's into one below the module's root.
func below(dir, file string) string {
	if filepath.IsAbs(file) {
		if abs, err := filepath.Abs(dir); err == nil {
			if rel, err := filepath.Rel(abs, file); err == nil {
				file = rel
			}
		}
	}
	return filepath.ToSlash(filepath.Clean(file))
}

// allocation returns what a diagnostic says is allocated, or "".
func allocation(message string) string {
	if strings.HasPrefix(message, "moved to heap: ") {
		return message
	}
	if what, ok := strings.CutSuffix(message, " escapes to heap"); ok {
		if quoted, err := strconv.QuotedPrefix(what); err == nil && quoted == what {
			return "" // a constant string in an interface is in read-only memory
		}
		if what == "append" {
			return "" // it may grow: only a run can tell
		}
		return message
	}
	if what, ok := strings.CutSuffix(message, " does not escape"); ok && unbounded(what) {
		return what + " allocates when it is longer than 32 bytes"
	}
	return ""
}

// unbounded reports whether an expression is a make of a size that is not
// constant, or joins strings: both have 32 bytes on the stack and no more.
func unbounded(text string) bool {
	e, err := parser.ParseExpr(text)
	if err != nil {
		return false
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return true
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.Ident); !ok || f.Name != "make" {
			return false
		}
		for _, size := range e.Args[1:] {
			if _, ok := size.(*ast.BasicLit); !ok {
				return true
			}
		}
	}
	return false
}

func TestEscapesFindsWhatAllocates(t *testing.T) {
	expect(t, escapes(t, "testdata/escapes"),
		`marks.go:5: "// alloc:none" marks nothing`,
		`marks.go:8: "//alloc:none" marks nothing`,
		`marks.go:12: "//alloc:none" marks nothing`,
		"bad.go:8:32: BadBox is marked //alloc:none, but n escapes to heap; move the slow path",
		"BadMoved is marked //alloc:none, but moved to heap: n",
		"BadParam is marked //alloc:none, but moved to heap: n",
		"BadInlined is marked //alloc:none, but &node{} escapes to heap",
		"BadMethodValue is marked //alloc:none, but n.method escapes to heap",
		"BadLiteral is marked //alloc:none, but new(int) escapes to heap",
		"BadLiteral is marked //alloc:none, but new(int) escapes to heap",
		"BadMake is marked //alloc:none, but make([]int, n) allocates when it is longer than 32 bytes",
		"BadBoth is marked //alloc:none, but n escapes to heap",
		"BadJoin is marked //alloc:none, but a + b allocates when it is longer than 32 bytes",
		"BadError is marked //alloc:none, but ",
		"BadError is marked //alloc:none, but n escapes to heap",
		"BadGeneric is marked //alloc:none, but escapes.v escapes to heap",
		"BadGeneric is marked //alloc:none, but v escapes to heap",
		"BadFar is marked //alloc:none, but moved to heap: escapes.v",
		"(*box[T]).BadMethod is marked //alloc:none, but moved to heap: v",
		"BadUnseen is marked //alloc:none but nobody instantiates it",
	)
}

func TestEscapesWantsAMark(t *testing.T) {
	expect(t, escapes(t, "testdata/unmarked"), "no function is marked //alloc:none")
}
