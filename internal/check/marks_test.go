package check

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"strings"
)

// mark is the directive that promises that a function makes nothing on the heap.
const mark = "//alloc:none"

// A hot is a function with the mark, in a file that is built here without tags.
type hot struct {
	name string // as one would write it, with its receiver
	at   *source
	// of its name or receiver: there the compiler speaks of the function as such
	where    token.Position
	body     span     // from func to the closing brace
	panics   []span   // what may allocate, as nobody returns from it
	generic  bool     // compiled where it is instantiated
	compiled bool     // the compiler has spoken of it
	broken   []string // what it said against the promise
}

// A span is a stretch of a file, both ends included.
type span struct{ from, to token.Position }

func (s span) holds(line, column int) bool {
	after := line > s.from.Line || line == s.from.Line && column >= s.from.Column
	before := line < s.to.Line || line == s.to.Line && column <= s.to.Column
	return after && before
}

func (t *tree) span(n ast.Node) span {
	return span{t.fset.Position(n.Pos()), t.fset.Position(n.End())}
}

// marks lists the marked functions, and marks that mark nothing.
func marks(t *tree, dir string) (hots []*hot, problems []string, err error) {
	for _, s := range t.sources {
		built, err := build.Default.MatchFile(filepath.Join(dir, s.room), path.Base(s.path))
		if err != nil {
			return nil, nil, err
		}
		if !built {
			continue
		}
		taken := map[*ast.Comment]bool{}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			for _, c := range f.Doc.List {
				if c.Text == mark {
					taken[c] = true
					hots = append(hots, t.hot(s, f))
				}
			}
		}
		problems = append(problems, t.misplaced(s, taken)...)
	}
	return hots, problems, nil
}

func (t *tree) hot(s *source, f *ast.FuncDecl) *hot {
	h := &hot{name: f.Name.Name, at: s, where: t.fset.Position(f.Name.Pos()), body: t.span(f)}
	h.generic = f.Type.TypeParams != nil
	if f.Recv != nil {
		recv := f.Recv.List[0].Type
		h.name = fmt.Sprintf("(%s).%s", types.ExprString(recv), h.name)
		h.where = t.fset.Position(f.Recv.Pos())
		h.generic = strings.Contains(types.ExprString(recv), "[")
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if fun, ok := call.Fun.(*ast.Ident); ok && fun.Name == "panic" {
				h.panics = append(h.panics, t.span(call))
			}
		}
		return true
	})
	return h
}

// misplaced lists comments that look like the mark and are not taken.
func (t *tree) misplaced(s *source, taken map[*ast.Comment]bool) []string {
	var problems []string
	for _, g := range s.file.Comments {
		for _, c := range g.List {
			word := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			if taken[c] || word != strings.TrimPrefix(mark, "//") {
				continue
			}
			problems = append(problems, fmt.Sprintf("%s: %q marks nothing; write %s in the doc comment of a function", t.at(c), c.Text, mark))
		}
	}
	return problems
}
