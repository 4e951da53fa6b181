package main

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The build doesn't see the files that run Hollywood: they are formatted, their tag keeps
// them out, and they have the workloads that are expected of them.
func TestHollywoodFiles(t *testing.T) {
	files, err := filepath.Glob("hollywood/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	has := map[string]bool{}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if formatted, err := format.Source(source); err != nil || !bytes.Equal(formatted, source) {
			t.Errorf("%s is not formatted: %v", name, err)
		}
		if !bytes.HasPrefix(source, []byte("//go:build ignore\n\n")) {
			t.Errorf("%s isn't ignored", name)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "workloads" {
				for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
					w, err := strconv.Unquote(e.(*ast.KeyValueExpr).Key.(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					has[w] = true
				}
			}
			return true
		})
	}
	if got, want := slices.Sorted(maps.Keys(has)), slices.Sorted(slices.Values(hollywoodWorkloads)); !slices.Equal(got, want) {
		t.Errorf("the program has %v, not %v", got, want)
	}
	if _, err := pick(workloads, workload.title, strings.Join(hollywoodWorkloads, ","), "workload"); err != nil {
		t.Error(err)
	}
}

// Hollywood can be chosen if it is asked for, and comes after protoactor.
func TestHollywoodIsOptional(t *testing.T) {
	o := options{}
	if err := o.choose("", hollywood); err == nil || len(o.known()) != len(libraries) {
		t.Errorf("it is there without -hollywood: %v", err)
	}
	o.hollywood = "source"
	if err := o.choose("", ""); err != nil {
		t.Fatal(err)
	}
	const want = "stackhouse, channels, mutex, protoactor, hollywood, erlang"
	if got := listed(o.libraries, library.title); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := o.choose("", hollywood); err != nil || len(o.libraries) != 1 {
		t.Errorf("%v, %s", err, listed(o.libraries, library.title))
	}
	if _, err := o.libraries[0].run("tell-1-1", 1); err == nil {
		t.Error("it ran in this process")
	}
}

// Without its source the others are compared.
func TestHollywoodIsLeftOut(t *testing.T) {
	empty, file := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(file, "go.mod"), []byte("no module\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		empty:                          "hollywood is left out: -hollywood wants a folder with the source of " + hollywoodModule,
		filepath.Join(empty, "absent"): "hollywood is left out: -hollywood wants a folder with the source of " + hollywoodModule,
		file:                           "hollywood is left out: go build: ",
	} {
		temp := t.TempDir()
		t.Setenv("TMPDIR", temp)
		o := options{hollywood: source}
		if err := o.choose("", "channels,hollywood"); err != nil {
			t.Fatal(err)
		}
		var progress bytes.Buffer
		o.prepare(&progress)()
		if !strings.HasPrefix(progress.String(), want) || listed(o.libraries, library.title) != baseline {
			t.Errorf("got %q, with %s", progress.String(), listed(o.libraries, library.title))
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
			t.Errorf("%v are left, %v", left, err)
		}
	}
}

// The real thing, if there is a source: every workload, small.
func TestHollywood(t *testing.T) {
	source := os.Getenv("STACKHOUSE_COMPARE_HOLLYWOOD")
	if source == "" {
		t.Skip("STACKHOUSE_COMPARE_HOLLYWOOD names no folder with the source of Hollywood")
	}
	o := options{hollywood: source}
	if err := o.choose("", hollywood); err != nil {
		t.Fatal(err)
	}
	var progress bytes.Buffer
	defer o.prepare(&progress)()
	if len(o.libraries) != 1 {
		t.Fatal(progress.String())
	}
	for _, w := range hollywoodWorkloads {
		r, err := inProcess(o.libraries[0], variant{}, w, 200)
		if err != nil || r.Ops < 1 || r.Ops > 2000 || r.Ns <= 0 {
			t.Errorf("%s: %d operations in %d ns, %v", w, r.Ops, r.Ns, err)
		}
	}
	if _, err := inProcess(o.libraries[0], variant{}, "timers", 200); err == nil {
		t.Error("it ran what it hasn't")
	}
}
