//go:build explore

package planted

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the module's folder, seen from this package's.
const root = "../../.."

// switches is the file that a folder with planted bugs gets: the number of the bug that is there.
const switches = `package %s

import (
	"os"
	"strconv"
)

var planted, _ = strconv.Atoi(os.Getenv("STACKHOUSE_PLANTED"))
`

// TestPlanted plants every bug. All of a folder are in one program, as a build takes seconds: a
// function with bugs is there once more for each of them, and calls that one instead of going on
// if its number is asked for.
func TestPlanted(t *testing.T) {
	folders := map[string]map[string][]int{} // the numbers of bugs, by folder of the tests and file
	for i, b := range bugs {
		dir := explored(b.file)
		if folders[dir] == nil {
			folders[dir] = map[string][]int{}
		}
		folders[dir][b.file] = append(folders[dir][b.file], i)
	}
	for dir, files := range folders {
		t.Run(dir, func(t *testing.T) {
			program := build(t, dir, files)
			for _, numbers := range files {
				for _, i := range numbers {
					t.Run(bugs[i].name, func(t *testing.T) { bugs[i].find(t, i+1, dir, program) })
				}
			}
		})
	}
}

// TestPlantedFunctions shows what becomes of a function with two bugs, and of its neighbours.
func TestPlantedFunctions(t *testing.T) {
	sound := "package p\n\nfunc f[S, T any]() {}\n\n// g says.\nfunc (h *H[T]) g(a, b int, c ...string) (n int) {\n\treturn a\n}\n"
	got, err := withBugs(sound, map[int]string{
		1: strings.Replace(sound, "return a", "return b", 1),
		2: strings.Replace(strings.Replace(sound, "return a", "return 0", 1), "]() {}", "]() { return }", 1),
	})
	require.NoError(t, err)
	require.Equal(t, "package p\n\nfunc f[S, T any]() {if planted == 2 { f_2[S, T](); return };}\n\n// g says.\n"+
		"func (h *H[T]) g(a, b int, c ...string) (n int) {if planted == 1 { return h.g_1(a, b, c...) };if planted == 2 { return h.g_2(a, b, c...) };\n\treturn a\n}\n"+
		"\nfunc (h *H[T]) g_1(a, b int, c ...string) (n int) {\n\treturn b\n}\n"+
		"\nfunc f_2[S, T any]() { return }\n"+
		"\nfunc (h *H[T]) g_2(a, b int, c ...string) (n int) {\n\treturn 0\n}\n", got)

	for what, broken := range map[string]string{
		"no function differs":       sound,
		"differs outside functions": strings.Replace(sound, "package p\n", "package p\n\nvar x int\n", 1),
		"has no name":               strings.Replace(sound, "(a, b int, c ...string) (n int) {\n\treturn a", "(int, int, ...string) (n int) {\n\treturn 1", 1),
	} {
		_, err := withBugs(sound, map[int]string{1: broken})
		require.ErrorContains(t, err, what)
	}
}

// explored is the folder whose tests find the bugs of a file: its own, or, as the protocols are
// those of all of stack, that of stack.
func explored(file string) string {
	dir := filepath.Dir(file)
	if strings.HasPrefix(dir, "stack/") {
		return "stack"
	}
	return dir
}

// build compiles the tests of a folder with all of its bugs.
func build(t *testing.T, dir string, files map[string][]int) (program string) {
	temp := t.TempDir()
	replaced := map[string]string{}
	replace := func(file, text string) {
		at, err := filepath.Abs(filepath.Join(root, file))
		require.NoError(t, err)
		replaced[at] = filepath.Join(temp, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(replaced[at], []byte(text), 0o600))
	}
	for file, numbers := range files {
		of := filepath.Dir(file)
		replace(filepath.Join(of, "planted.go"), fmt.Sprintf(switches, filepath.Base(of)))
		sound, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		broken := map[int]string{}
		for _, i := range numbers {
			broken[i+1] = bugs[i].plant(t, string(sound))
		}
		text, err := withBugs(string(sound), broken)
		require.NoError(t, err, file)
		replace(file, text)
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	require.NoError(t, err)
	overlay := filepath.Join(temp, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, list, 0o600))

	program = filepath.Join(temp, "explored.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-gcflags=-N -l", "-tags", "invariants,explore", "-overlay", overlay, "-o", program, ".")
	build.Dir = filepath.Join(root, dir)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "it does not compile: %s", out)
	return program
}

// plant is the text of a file with the bug in it.
func (b *bug) plant(t *testing.T, text string) string {
	for _, e := range b.edits {
		if n := strings.Count(text, e[0]); n != 1 {
			t.Fatalf("%s: %s has %d times, want once:\n%s", b.name, b.file, n, e[0])
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	return text
}

// find demands that the scenario of the bug fails with it, and says how to see it again.
func (b *bug) find(t *testing.T, number int, dir, program string) {
	explore := func(env ...string) (string, error) {
		cmd := exec.Command(program, "-test.run", "^TestExplore$/^"+strings.ReplaceAll(b.protocol, " ", "_")+"$", "-test.timeout", "60s")
		cmd.Dir = filepath.Join(root, dir)
		cmd.Env = append(os.Environ(), append(env, fmt.Sprint("STACKHOUSE_PLANTED=", number))...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	said, err := explore()
	if err == nil || !strings.Contains(said, "again by STACKHOUSE_REPLAY=") {
		t.Fatalf("the scenario %q does not find it: %v\n%s", b.protocol, err, said)
	}
	_, why, _ := strings.Cut(said, ": in schedule ")
	why, report, _ := strings.Cut(why, "\n")
	t.Logf("in schedule %s", why)

	_, choices, _ := strings.Cut(report, "again by ")
	choices, _, _ = strings.Cut(choices, "\n")
	_, why, _ = strings.Cut(why, ": ") // without the schedule's number
	if said, err := explore(choices); err == nil || !strings.Contains(said, ": "+why+"\n") || strings.Contains(said, "in schedule") {
		t.Fatalf("by %s it fails otherwise: %v\n%s", choices, err, said)
	}
}

// withBugs is the text of a file with the functions that differ in broken texts beside the sound
// ones, which call them if their number is planted. Lines keep their numbers.
func withBugs(sound string, broken map[int]string) (string, error) {
	functions, between, err := split(sound)
	if err != nil {
		return "", err
	}
	calls := make([]string, len(functions))
	var more strings.Builder
	for _, number := range slices.Sorted(maps.Keys(broken)) {
		others, elsewhere, err := split(broken[number])
		if err != nil {
			return "", fmt.Errorf("bug %d: %w", number, err)
		}
		if elsewhere != between {
			return "", fmt.Errorf("bug %d: it differs outside functions", number)
		}
		differs := false
		for i, f := range others {
			if f.text == functions[i].text {
				continue
			}
			differs = true
			name := fmt.Sprint(f.Name.Name, "_", number)
			call, err := f.call(name)
			if err != nil {
				return "", fmt.Errorf("bug %d: %w", number, err)
			}
			calls[i] += fmt.Sprintf("if planted == %d { %s };", number, call)
			at := f.Name.Pos() - f.Pos()
			fmt.Fprintf(&more, "\n%s%s%s\n", f.text[:at], name, f.text[at+token.Pos(len(f.Name.Name)):])
		}
		if !differs {
			return "", fmt.Errorf("bug %d: no function differs", number)
		}
	}
	for i, f := range slices.Backward(functions) {
		body := int(f.Body.Lbrace) // offsets count from 0, positions from 1
		sound = sound[:body] + calls[i] + sound[body:]
	}
	return sound + more.String(), nil
}

type function struct {
	*ast.FuncDecl
	text string
}

// split parses a file into its functions and the text between them.
func split(text string) (functions []function, between string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, "", err
	}
	behind := 0
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			functions = append(functions, function{f, text[f.Pos()-1 : f.End()-1]})
			between += text[behind:f.Pos()-1] + "func"
			behind = int(f.End() - 1)
		}
	}
	return functions, between + text[behind:], nil
}

// call is the statements that leave all to the function of that name.
func (f function) call(name string) (string, error) {
	if f.Recv != nil {
		names := f.Recv.List[0].Names
		if len(names) == 0 {
			return "", fmt.Errorf("the receiver of %s has no name", f.Name)
		}
		name = names[0].Name + "." + name
	}
	if types := f.Type.TypeParams; types != nil {
		var names []string
		for _, p := range types.List {
			for _, n := range p.Names {
				names = append(names, n.Name)
			}
		}
		name += "[" + strings.Join(names, ", ") + "]"
	}
	var args []string
	for _, p := range f.Type.Params.List {
		if len(p.Names) == 0 || p.Names[0].Name == "_" {
			return "", fmt.Errorf("a parameter of %s has no name", f.Name)
		}
		for _, n := range p.Names {
			args = append(args, n.Name)
		}
		if _, ok := p.Type.(*ast.Ellipsis); ok {
			args[len(args)-1] += "..."
		}
	}
	call := fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
	if f.Type.Results == nil {
		return call + "; return", nil
	}
	return "return " + call, nil
}
