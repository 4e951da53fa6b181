package check

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// rawElsewhere is what no compiler checks beside the files of raw: in programs, and in assembly.
var rawElsewhere = []permit{
	{files: "examples/kv/table/memory.go", what: "unsafe", why: "slots in memory outside of the heap", test: "TestModelOutsideTheHeap"},
	{files: "examples/kv/table/prefetch/*.go", what: "unsafe", why: "an address, which is not looked at", test: "Example"},
	{files: "examples/kv/table/prefetch/*.s", what: "assembly", why: "an instruction that the language has no word for", test: "Example"},
	{files: "internal/self/*.s", what: "assembly", why: "which goroutine runs, for telling one that it is a worker's", test: "TestIDs"},
}

// TestG26RawCodeIsListed: SECURITY.md says that each such file stands in a list, with a test that
// covers it.
func TestG26RawCodeIsListed(t *testing.T) {
	all := slices.Concat(raw, rawElsewhere)
	report(t, unlisted(t, os.DirFS(root), all))
	for _, p := range rawElsewhere {
		report(t, p.judge(ours(t), true))
	}
}

// unlisted names the files of a folder, nested modules included, that use unsafe, or are
// assembly, without a permit.
func unlisted(t *testing.T, fsys fs.FS, permits []permit) (problems []string) {
	used := make([]bool, len(permits))
	require.NoError(t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (hidden(d.Name()) || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		what := rawCode(t, fsys, name)
		if what == "" {
			return nil
		}
		i := slices.IndexFunc(permits, func(p permit) bool { return p.allows(name, what) })
		if i < 0 {
			problems = append(problems, name+": "+what+" that isn't listed")
		} else {
			used[i] = true
		}
		return nil
	}))
	for i, p := range permits {
		if !used[i] {
			problems = append(problems, p.files+": nothing there is "+p.what+" any more")
		}
	}
	return problems
}

// rawCode says what of a file is to be listed; "": nothing.
func rawCode(t *testing.T, fsys fs.FS, name string) string {
	switch {
	case path.Ext(name) == ".s":
		return "assembly"
	case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
		return ""
	}
	text, err := fs.ReadFile(fsys, name)
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	require.NoError(t, err)
	for _, imp := range file.Imports {
		if imp.Path.Value == `"unsafe"` {
			return "unsafe"
		}
	}
	return ""
}

func TestUnlistedRawCode(t *testing.T) {
	uses := &fstest.MapFile{Data: []byte(`package a; import "unsafe"; var _ = unsafe.Sizeof(0)`)}
	fsys := fstest.MapFS{
		"a/listed.go": uses, "a/other.go": uses, "a/x_test.go": uses, "nested/go.mod": {}, "nested/b.go": uses,
		"a/id_amd64.s": {}, "a/listed.s": {}, "a/testdata/c.go": uses, "a/plain.go": {Data: []byte("package a")},
	}
	got := unlisted(t, fsys, []permit{
		{files: "a/listed.go", what: "unsafe"}, {files: "a/listed.s", what: "assembly"}, {files: "a/plain.go", what: "unsafe"},
	})
	require.ElementsMatch(t, []string{
		"a/other.go: unsafe that isn't listed", "nested/b.go: unsafe that isn't listed", "a/id_amd64.s: assembly that isn't listed",
		"a/plain.go: nothing there is unsafe any more",
	}, got)
}
