package check

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// root is the module's folder, seen from this package's.
const root = "../.."

// A source is one parsed Go file of the module, whatever its build tags.
type source struct {
	path  string // below the module's root, with slashes
	room  string // the folder of path: its package's name in the policies
	test  bool   // a _test.go file
	outer bool   // of a package x_test
	text  string
	file  *ast.File
}

// A tree is all Go files of one module, without testdata and nested modules.
type tree struct {
	module  string // the module's path
	fset    *token.FileSet
	sources []*source
	rooms   map[string][]*source
}

// plant parses the module at the top of fsys.
func plant(fsys fs.FS) (*tree, error) {
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, err
	}
	t := &tree{fset: token.NewFileSet(), rooms: map[string][]*source{}}
	for line := range strings.Lines(string(mod)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			t.module = strings.TrimSpace(name)
		}
	}
	if t.module == "" {
		return nil, errors.New("go.mod names no module")
	}
	return t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(fsys, name)
		case path.Ext(name) != ".go" || hidden(d.Name()):
			return nil
		}
		return t.add(fsys, name)
	})
}

// enter returns fs.SkipDir for folders that are not of the module.
func enter(fsys fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	base := path.Base(dir)
	if hidden(base) || base == "testdata" || base == "vendor" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(fsys, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// hidden reports whether the go command passes over a file or folder of this name.
func hidden(base string) bool { return base[0] == '.' || base[0] == '_' }

func (t *tree) add(fsys fs.FS, name string) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s := &source{path: name, room: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), text: string(text), file: file}
	s.outer = s.test && strings.HasSuffix(file.Name.Name, "_test")
	t.sources = append(t.sources, s)
	t.rooms[s.room] = append(t.rooms[s.room], s)
	return nil
}

// at formats a position as path:line.
func (t *tree) at(n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// inside turns an import path into a room of this module, if it is one.
func (t *tree) inside(imported string) (room string, ok bool) {
	if imported == t.module {
		return ".", true
	}
	return strings.CutPrefix(imported, t.module+"/")
}

// within reports whether a room is meant by a pattern: a room, or "room/..." for it and all below.
func within(room, pattern string) bool {
	if top, ok := strings.CutSuffix(pattern, "/..."); ok {
		return room == top || strings.HasPrefix(room, top+"/")
	}
	return room == pattern
}

// ours parses this module.
func ours(t *testing.T) *tree {
	t.Helper()
	tr, err := plant(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// sketch parses a module made of the given texts.
func sketch(t *testing.T, texts map[string]string) *tree {
	t.Helper()
	fsys := fstest.MapFS{"go.mod": {Data: []byte("module m.test/m\n\ngo 1.26\n")}}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tr, err := plant(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// report fails the test with every problem.
func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// expect demands exactly these problems, in this order, each given by a part of its text.
func expect(t *testing.T, problems []string, parts ...string) {
	t.Helper()
	ok := len(problems) == len(parts)
	for i := 0; ok && i < len(parts); i++ {
		ok = strings.Contains(problems[i], parts[i])
	}
	if !ok {
		t.Errorf("problems:\n\t%s\nwant:\n\t%s", strings.Join(problems, "\n\t"), strings.Join(parts, "\n\t"))
	}
}

func TestTreeLeavesOutWhatIsNotOfTheModule(t *testing.T) {
	tr := sketch(t, map[string]string{
		"a/a.go":            "package a",
		"a/a_test.go":       "package a",
		"a/x_test.go":       "package a_test",
		"a/testdata/b/b.go": "package b",
		"nested/go.mod":     "module nested",
		"nested/n.go":       "package nested",
		"_old/o.go":         "package old",
		"a/.#a.go":          "not Go",
	})
	var got []string
	for _, s := range tr.sources {
		got = append(got, fmt.Sprintf("%s %s %t %t", s.path, s.room, s.test, s.outer))
	}
	expect(t, got, "a/a.go a false false", "a/a_test.go a true false", "a/x_test.go a true true")
	if tr.module != "m.test/m" {
		t.Errorf("module %q", tr.module)
	}
}
