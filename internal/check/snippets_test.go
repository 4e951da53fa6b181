package check

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// snippetPages have code in them that must compile, and tests that must pass.
var snippetPages = []string{"README.md", "docs/guide/*.md"}

// snippetImports are what code in a page may use without saying so.
var snippetImports = map[string]string{
	"errors": "errors", "fmt": "fmt", "time": "time", "context": "context", "testing": "testing",
	"bytes": "bytes", "bufio": "bufio", "net": "net", "os": "os", "signal": "os/signal", "syscall": "syscall", "http": "net/http", "strconv": "strconv",
	"core":  "github.com/stackhouse-go/stackhouse/core",
	"house": "github.com/stackhouse-go/stackhouse/house", "housetest": "github.com/stackhouse-go/stackhouse/house/housetest",
	"channel": "github.com/stackhouse-go/stackhouse/channel", "httphost": "github.com/stackhouse-go/stackhouse/house/httphost",
	"pool": "github.com/stackhouse-go/stackhouse/pool", "cluster": "github.com/stackhouse-go/stackhouse/cluster",
}

var snippet = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestSnippets: the pieces of code in a page are one program: the piece that has a package clause
// begins it, and the others are added to it. Those of the guide are added to README's.
func TestSnippets(t *testing.T) {
	found := 0
	first, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range snippetPages {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(name) != "README.md" && snippet.Match(text) {
				text = append(append([]byte{}, first...), text...)
			}
			code, err := program(string(text))
			switch {
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case code != "":
				found++
				if out, err := runs(t, code); err != nil {
					t.Errorf("%s: its code does not work: %v\n%s", name, err, out)
				}
			}
		}
	}
	if found == 0 {
		t.Error("snippets: no page has code: is this the right folder?")
	}
}

// program joins the pieces of code in a page; "": it has none.
func program(page string) (code string, err error) {
	for _, m := range snippet.FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[1], "package ") {
			code = m[1] + code
		} else {
			code += "\n" + m[1]
		}
	}
	if code == "" {
		return "", nil
	}
	if !strings.Contains(code, "package ") {
		code = "package main\n" + code
	}
	file, err := parser.ParseFile(token.NewFileSet(), "page.go", code, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	has := map[string]bool{}
	for _, imp := range file.Imports {
		p := strings.Trim(imp.Path.Value, `"`)
		has[p[strings.LastIndexByte(p, '/')+1:]] = true
	}
	var more strings.Builder
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && snippetImports[x.Name] != "" && !has[x.Name] {
				has[x.Name] = true
				fmt.Fprintf(&more, "import %q\n", snippetImports[x.Name])
			}
		}
		return true
	})
	if file.Name.Name == "main" && !strings.Contains(code, "func main()") {
		code += "\nfunc main() {}\n"
	}
	at := int(file.Name.End())
	return code[:at-1] + "\n" + more.String() + code[at-1:], nil
}

// runs compiles code as the tests of a package of this module, which is nowhere but in an
// overlay, and runs them.
func runs(t *testing.T, code string) (out []byte, err error) {
	dir := t.TempDir()
	page, overlay := filepath.Join(dir, "page.go"), filepath.Join(dir, "overlay.json")
	at, err := filepath.Abs(filepath.Join(root, "internal/check/page/page_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {at: page}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{page: []byte(code), overlay: list} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	test := filepath.Join(dir, "page.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", test, "./internal/check/page")
	build.Dir = root
	if out, err = build.CombinedOutput(); err != nil {
		return out, err
	}
	run := exec.Command(test, "-test.timeout", "60s")
	run.Dir = dir
	return run.CombinedOutput()
}

func TestSnippetsFindsWhatIsWrong(t *testing.T) {
	code, err := program("# A\n\n```go\npackage main\n\nfunc main() { f(time.Second) }\n```\n\ntext\n\n```go\nfunc f(time.Duration) {}\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := runs(t, code); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, code)
	}
	if out, err := runs(t, strings.Replace(code, "f(time.Second)", "f(1, 2)", 1)); err == nil || !strings.Contains(string(out), "too many arguments") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := runs(t, strings.Replace(code, "package main", "package main; import \"testing\"", 1)+"\nfunc TestBad(t *testing.T) { t.Fatal(1) }\n"); err == nil {
		t.Errorf("%s", out)
	}
	if code, err := program("# A\n\n    go test\n"); code != "" || err != nil {
		t.Errorf("%q, %v", code, err)
	}
	if _, err := program("```go\nfunc {\n```"); err == nil {
		t.Error("what is no Go is no problem")
	}
}
