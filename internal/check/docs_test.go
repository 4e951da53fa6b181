package check

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDocs(t *testing.T) {
	report(t, docs(ours(t)))
}

// docs is the gate: every package has a doc.go with a comment, an Example that
// runs unless it is a program or exports nothing, and a comment for every
// exported name.
func docs(t *tree) []string {
	var problems []string
	exported := 0
	for _, pkg := range slices.Sorted(maps.Keys(t.rooms)) {
		sources := t.rooms[pkg]
		problems = append(problems, page(pkg, sources)...)
		names := 0
		for _, s := range sources {
			if s.test || s.file.Name.Name == "main" {
				continue
			}
			all, bare := t.names(s)
			names += all
			problems = append(problems, bare...)
			problems = append(problems, t.misnamed(s)...)
		}
		if names > 0 && !within(pkg, "bench/...") && !exemplified(sources) {
			problems = append(problems, fmt.Sprintf("%s: no Example with an \"// Output:\" comment; write one in example_test.go", pkg))
		}
		exported += names
	}
	if exported == 0 {
		problems = append(problems, "docs: no package exports anything: is this the right folder?")
	}
	return problems
}

// commentMax is how many columns a line has at most that ends with a comment; a tab is one.
const commentMax = 100

func TestComments(t *testing.T) {
	report(t, wide(ours(t)))
}

// wide is the gate: lines of comments are short enough to be read in one go.
func wide(t *tree) (problems []string) {
	seen := 0
	for _, s := range t.sources {
		for _, g := range s.file.Comments {
			for _, c := range g.List {
				seen++
				columns := t.fset.Position(c.Pos()).Column - 1 + utf8.RuneCountInString(c.Text)
				if columns > commentMax && strings.HasPrefix(c.Text, "//") {
					problems = append(problems, fmt.Sprintf("%s: a comment to column %d; break it before %d", t.at(c), columns, commentMax))
				}
			}
		}
	}
	if seen == 0 {
		problems = append(problems, "comments: there are none: is this the right folder?")
	}
	return problems
}

func TestCommentsFindsWhatIsRefused(t *testing.T) {
	long := strings.Repeat("ü", commentMax-3)
	expect(t, wide(sketch(t, map[string]string{
		"a/a.go": "package a\n\n// " + long + "\n\nvar x int /* " + long + " */\n",
		"a/b.go": "package a\n\n// " + long + "b\n\nvar y int // " + long + "\n",
	})), "a/b.go:3: a comment to column 101", "a/b.go:5: a comment to column 110")
	expect(t, wide(sketch(t, map[string]string{"a/a.go": "package a"})), "there are none")
}

// page checks doc.go.
func page(pkg string, sources []*source) []string {
	at := path.Join(pkg, "doc.go")
	i := slices.IndexFunc(sources, func(s *source) bool { return s.path == at })
	if i < 0 {
		return []string{fmt.Sprintf("%s: missing; every package says in a screen of text what it is for", at)}
	}
	file := sources[i].file
	switch text := file.Doc.Text(); {
	case text == "":
		return []string{fmt.Sprintf("%s: no package comment right above the package clause", at)}
	case file.Name.Name != "main" && !strings.HasPrefix(text, "Package "+file.Name.Name+" "):
		return []string{fmt.Sprintf("%s: the comment should begin with \"Package %s\"", at, file.Name.Name)}
	}
	return nil
}

// exemplified reports whether one of the tests is an example that go test runs.
func exemplified(sources []*source) bool {
	var tests []*ast.File
	for _, s := range sources {
		if s.test {
			tests = append(tests, s.file)
		}
	}
	return slices.ContainsFunc(doc.Examples(tests...), func(e *doc.Example) bool {
		return e.Output != "" || e.EmptyOutput
	})
}

// names counts the exported names that a file declares and reports those without a comment.
func (t *tree) names(s *source) (all int, bare []string) {
	see := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		all++
		for _, c := range comments {
			if c.Text() != "" {
				return
			}
		}
		bare = append(bare, fmt.Sprintf("%s: exported %s has no comment; say what it is for and who may use it", t.at(name), name.Name))
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || receiver(d).IsExported() {
				see(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if d.Lparen == token.NoPos {
						see(spec.Name, spec.Doc, d.Doc)
					} else {
						see(spec.Name, spec.Doc, spec.Comment)
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						see(name, spec.Doc, spec.Comment, d.Doc)
					}
				}
			}
		}
	}
	return all, bare
}

// misnamed reports the functions whose comments begin with another name than theirs: an earlier
// one.
func (t *tree) misnamed(s *source) (problems []string) {
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Doc.Text() == "" || f.Name.Name == "main" || f.Name.Name == "init" {
			continue
		}
		if first, _, _ := strings.Cut(f.Doc.Text(), " "); strings.TrimRight(first, ",:;.\n") != f.Name.Name {
			problems = append(problems, fmt.Sprintf("%s: the comment of %s begins with %q", t.at(f), f.Name.Name, first))
		}
	}
	return problems
}

// receiver returns the name of a method's type.
func receiver(f *ast.FuncDecl) *ast.Ident {
	e := f.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x
		default:
			panic(fmt.Sprintf("check: receiver of unknown form %T", x))
		}
	}
}

func TestDocsFindsWhatIsMissing(t *testing.T) {
	const example = "package a_test\n\nfunc Example() {\n\t// Output:\n}\n"
	sound := map[string]string{
		"a/doc.go":             "// Package a is sound.\npackage a",
		"a/a.go":               "package a\n\n// F does.\nfunc F() {}\n\ntype t int\n\nfunc (t) M() {}",
		"a/example_test.go":    example,
		"bench/doc.go":         "// Package bench measures.\npackage bench",
		"bench/b.go":           "package bench\n\n// B is one.\nfunc B() {}",
		"examples/kv/doc.go":   "// Kv is a server.\npackage main",
		"examples/kv/main.go":  "package main\n\ntype Server int\n\nfunc main() {}",
		"internal/bare/doc.go": "// Package bare exports nothing.\npackage bare",
	}
	expect(t, docs(sketch(t, sound)))
	for _, c := range []struct{ name, file, text, want string }{
		{"no page", "a/doc.go", "", "a/doc.go: missing"},
		{"no comment", "a/doc.go", "// Package a is apart.\n\npackage a", "a/doc.go: no package comment"},
		{"other name", "a/doc.go", "// Package b is another.\npackage a", "should begin with \"Package a\""},
		{"no page, program", "examples/kv/doc.go", "", "examples/kv/doc.go: missing"},
		{"no example", "a/example_test.go", "", "a: no Example"},
		{"example that does not run", "a/example_test.go", "package a\n\nfunc Example() {}", "a: no Example"},
		{"function", "a/f.go", "package a\n\nfunc Bare() {}", "a/f.go:3: exported Bare has no comment"},
		{"earlier name", "a/f.go", "package a\n\n// was does.\nfunc is() {}", "a/f.go:4: the comment of is begins with \"was\""},
		{"directive only", "a/f.go", "package a\n\n//alloc:none\nfunc Bare() {}", "exported Bare"},
		{"method", "a/f.go", "package a\n\n// T is.\ntype T[P any] int\n\nfunc (t *T[P]) Bare() {}", "a/f.go:6: exported Bare"},
		{"type", "a/f.go", "package a\n\ntype Bare int", "exported Bare"},
		{"type in a group", "a/f.go", "package a\n\n// These are.\ntype (\n\tBare int\n\t// Told is.\n\tTold int\n)", "a/f.go:5: exported Bare"},
		{"variable", "a/f.go", "package a\n\nvar Bare, bare int", "exported Bare"},
		{"constant", "a/f.go", "package a\n\nconst (\n\tTold = 1 // in the line\n\tBare = 2\n)", "a/f.go:5: exported Bare"},
	} {
		t.Run(c.name, func(t *testing.T) {
			texts := map[string]string{}
			for name, text := range sound {
				texts[name] = text
			}
			if texts[c.file] = c.text; c.text == "" {
				delete(texts, c.file)
			}
			expect(t, docs(sketch(t, texts)), c.want)
		})
	}
	expect(t, docs(sketch(t, nil)), "no package exports anything")
}
