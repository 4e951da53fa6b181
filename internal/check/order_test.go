package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The files of stack stand in groups, which the beginnings of their names say. A group may use
// those below it: what it calls there can be understood without knowing who calls.
var stackGroups = []group{
	{"where an actor and its calls stand, and what a worker has", []string{"house", "engine"}},
	{"a call, and what its author sees of it", []string{"call"}},
	{"how calls, answers and news of them travel, and end", []string{"send"}},
	{"the life of an actor", []string{"life"}},
	{"what a worker does in a turn", []string{"visit"}},
}

// A group is files of one room.
type group struct {
	what     string
	prefixes []string // of the names of its files, up to an underscore or the dot
}

// againstMax is how many references may go from a group to one above it: a step calls what sends,
// which ends, which calls for a step, so there are some.
const againstMax = 20

func TestOrder(t *testing.T) {
	pkg, err := listed(filepath.Join(root, "stack"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := against(pkg, stackGroups)
	if err != nil {
		t.Fatal(err)
	}
	report(t, all.strays)
	if len(all.up) > againstMax {
		t.Errorf("%d references against the order, at most %d:\n\t%s", len(all.up), againstMax, strings.Join(all.up, "\n\t"))
	}
	if all.down < 300 {
		t.Errorf("%d references in the order: nothing is looked at", all.down)
	}
	t.Logf("%d against the order, %d in it", len(all.up), all.down)
}

// A typed package is one that is to be checked, with what it imports.
type typed struct {
	path  string
	fset  *token.FileSet
	files []*ast.File
	deps  types.Importer
}

// listed asks the go command for the package in a folder.
func listed(dir string) (*typed, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,GoFiles", ".")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	type listing struct {
		ImportPath, Export string
		GoFiles            []string
	}
	var last listing // the package itself
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listing
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath], last = p.Export, p
	}
	p := &typed{path: last.ImportPath, fset: token.NewFileSet()}
	p.deps = importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	t, err := plant(os.DirFS(root))
	if err != nil {
		return nil, err
	}
	p.fset = t.fset
	for _, s := range t.rooms[strings.TrimPrefix(p.path, t.module+"/")] {
		if slices.Contains(last.GoFiles, path.Base(s.path)) {
			p.files = append(p.files, s.file)
		}
	}
	return p, nil
}

// An order is the references between files of a package that stand in different groups.
type order struct {
	up     []string // those to a group above
	down   int
	strays []string // files of no group
}

// against is the gate: it finds who uses a function, a method or a variable of a group above. The
// call of an interface's method that only one type has is one of that. A field of a function
// counts where it is set: who calls it calls that.
func against(p *typed, groups []group) (all order, err error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	pkg, err := (&types.Config{Importer: p.deps}).Check(p.path, p.fset, p.files, info)
	if err != nil {
		return all, err
	}
	rank := func(at token.Pos) int {
		base, _, _ := strings.Cut(path.Base(p.fset.Position(at).Filename), ".")
		prefix, _, _ := strings.Cut(base, "_")
		return slices.IndexFunc(groups, func(g group) bool { return slices.Contains(g.prefixes, prefix) })
	}
	use := func(from, to token.Pos, what string) {
		switch a, b := rank(from), rank(to); {
		case a < b:
			at := p.fset.Position(from)
			all.up = append(all.up, fmt.Sprintf("%s:%d: %s of %s", at.Filename, at.Line, what, path.Base(p.fset.Position(to).Filename)))
		case a > b:
			all.down++
		}
	}
	for _, file := range p.files {
		if name := path.Base(p.fset.Position(file.Pos()).Filename); rank(file.Pos()) < 0 {
			if name != "doc.go" {
				all.strays = append(all.strays, name+" stands in no group: see stackGroups")
			}
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if o := used(info.Uses[n], pkg); o != nil {
					use(n.Pos(), o.Pos(), o.Name())
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok {
					set(info, pkg, key, use)
				}
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					if field, ok := e.(*ast.SelectorExpr); ok {
						set(info, pkg, field.Sel, use)
					}
				}
			}
			return true
		})
	}
	return all, nil
}

// used returns what is used of pkg: a function, a method or a variable; nil: something else.
func used(o types.Object, pkg *types.Package) types.Object {
	if o == nil || o.Pkg() != pkg {
		return nil
	}
	switch o := o.(type) {
	case *types.Func:
		o = o.Origin()
		if r := o.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
			return onlyOne(o, r.Type().Underlying().(*types.Interface), pkg)
		}
		return o
	case *types.Var:
		if o.Parent() == pkg.Scope() {
			return o
		}
	}
	return nil
}

// onlyOne returns the method of the only type of pkg that has those of an interface; nil if there
// is none, or another one.
func onlyOne(method *types.Func, of *types.Interface, pkg *types.Package) (one types.Object) {
	for _, name := range pkg.Scope().Names() {
		t, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || t.IsAlias() || types.IsInterface(t.Type()) || t.Type().(*types.Named).TypeParams().Len() > 0 {
			continue
		}
		if !types.Implements(types.NewPointer(t.Type()), of) {
			continue
		}
		if one != nil {
			return nil
		}
		one, _, _ = types.LookupFieldOrMethod(types.NewPointer(t.Type()), true, pkg, method.Name())
	}
	return one
}

// set counts the setting of a field of a function as a use, where the field stands, of what it is
// set to.
func set(info *types.Info, pkg *types.Package, field *ast.Ident, use func(from, to token.Pos, what string)) {
	f, ok := info.Uses[field].(*types.Var)
	if !ok || !f.IsField() || f.Pkg() != pkg {
		return
	}
	if _, calls := f.Type().Underlying().(*types.Signature); calls {
		use(f.Origin().Pos(), field.Pos(), f.Name())
	}
}

func TestOrderFindsWhatIsRefused(t *testing.T) {
	groups := []group{{"below", []string{"low"}}, {"above", []string{"high"}}}
	fine := map[string]string{
		"a/low.go": "package a\n\ntype T struct{ f func(); h *H }\n\nfunc (t *T) Low() {}\n\nfunc low() {}",
		"a/high_one.go": "package a\n\ntype H struct{}\n\nvar word int\n\nfunc (h *H) High() { low() }\n\n" +
			"func high(t *T) { t.Low(); low() }",
		"a/high_two.go": "package a\n\nfunc two(t *T) { high(t) }",
		"a/doc.go":      "package a",
	}
	look := func(texts map[string]string) order {
		t.Helper()
		tr := sketch(t, texts)
		p := &typed{path: "m.test/m/a", fset: tr.fset}
		for _, s := range tr.rooms["a"] {
			p.files = append(p.files, s.file)
		}
		all, err := against(p, groups)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := look(fine)
	expect(t, append(all.up, all.strays...))
	if all.down != 3 {
		t.Errorf("%d references in the order, want 3", all.down)
	}
	for text, want := range map[string][]string{
		"func bad(t *T) { high(t) }":                               {"a/low_bad.go:3: high of high_one.go"},
		"func bad(t *T) { high(t); high(t) }":                      {"high of high_one.go", "high of high_one.go"},
		"func bad(t *T) { t.h.High() }":                            {"High of high_one.go"},
		"var bad = word":                                           {"word of high_one.go"},
		"type I interface{ High() }\n\nfunc bad(i I) { i.High() }": {"High of high_one.go"},
		// whose it is, is unknown
		"type I interface{ Other() }\n\nfunc bad(i I) { i.Other() }": nil,
		// it knows the type, and nothing of it
		"func bad() { var a *H; _ = a }": nil,
	} {
		texts := map[string]string{"a/low_bad.go": "package a\n\n" + text}
		for name, text := range fine {
			texts[name] = text
		}
		expect(t, look(texts).up, want...)
	}
	for _, text := range []string{"func bad(t *T) { t.f = func() {} }", "func bad() { _ = T{f: func() {}} }"} {
		texts := map[string]string{"a/high_bad.go": "package a\n\n" + text}
		for name, text := range fine {
			texts[name] = text
		}
		expect(t, look(texts).up, "a/low.go:3: f of high_bad.go")
	}
	fine["a/other.go"] = "package a"
	expect(t, look(fine).strays, "other.go stands in no group")
}
