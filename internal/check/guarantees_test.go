package check

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const guaranteesPage = "docs/guarantees.md"

var (
	guarantee = regexp.MustCompile(`^\| (?:(G\d+) )?\| [^-]`)
	named     = regexp.MustCompile(`^Test(G\d+)[A-Z]`)
)

func TestGuarantees(t *testing.T) {
	report(t, guarantees(os.DirFS(root)))
}

// guarantees is the gate: every guarantee of the page is shown by tests that exist, every one
// with a number by tests of that name, and those stand in its row.
func guarantees(fsys fs.FS) []string {
	text, err := fs.ReadFile(fsys, guaranteesPage)
	if err != nil {
		return []string{err.Error()}
	}
	known, err := tests(fsys)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	row, line := map[string]string{}, 0 // of each test
	for l := range strings.Lines(string(text)) {
		line++
		m := guarantee.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		own := 0
		names := shown.FindAllStringSubmatch(l, -1)
		for _, name := range names {
			row[name[1]] = m[1]
			if !known[name[1]] {
				problems = append(problems, fmt.Sprintf("%s:%d: there is no %s", guaranteesPage, line, name[1]))
			}
			if n := named.FindStringSubmatch(name[1]); n != nil && n[1] == m[1] {
				own++
			}
		}
		switch {
		case len(names) == 0:
			problems = append(problems, fmt.Sprintf("%s:%d: no test shows this guarantee", guaranteesPage, line))
		case m[1] != "" && own == 0:
			problems = append(problems, fmt.Sprintf("%s:%d: no test is named Test%s…", guaranteesPage, line, m[1]))
		}
	}
	if len(row) == 0 {
		problems = append(problems, guaranteesPage+": there are no guarantees: has its form changed?")
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if n := named.FindStringSubmatch(name); n != nil && row[name] != n[1] {
			problems = append(problems, fmt.Sprintf("%s: %s isn't in the row of %s", guaranteesPage, name, n[1]))
		}
	}
	return problems
}

func TestGuaranteesFindsWhatIsMissing(t *testing.T) {
	page := func(rows ...string) fs.FS {
		return fstest.MapFS{
			guaranteesPage: {Data: []byte("# G\n\n| # | what |\n|--:|---|\n" + strings.Join(rows, "\n") + "\n")},
			"a/a_test.go": {Data: []byte("package a\n\nfunc TestG1A(t *testing.T) {}\n\n" +
				"func TestG12B(t *testing.T) {}\n\nfunc TestC(t *testing.T) {}\n")},
		}
	}
	one, twelve := "| G1 | a | `b` | `TestG1A`, `TestC` |", "| G12 | a | `b` | `TestG12B` |"
	expect(t, guarantees(page(one, twelve, "| | c | `d` | `TestC` |")))
	expect(t, guarantees(page(one, twelve, "| | c | `d` | `make race` |")), "no test shows this guarantee")
	expect(t, guarantees(page(one, twelve, "| G2 | c | `d` | `TestC` |")), "no test is named TestG2…")
	expect(t, guarantees(page(one, twelve, "| | c | `d` | `TestD` |")), "there is no TestD")
	expect(t, guarantees(page(one)), "TestG12B isn't in the row of G12")
	expect(t, guarantees(page(one, "| G2 | c | `d` | `TestG12B`, `TestC` |")), "no test is named TestG2…", "TestG12B isn't in the row of G12")
	expect(t, guarantees(page()), "there are no guarantees", "TestG12B isn't", "TestG1A isn't")
}
