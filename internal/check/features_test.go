package check

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

const featuresPage = "docs/features.md"

var (
	declared = regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`)
	shown    = regexp.MustCompile("`((?:Test|Example|Fuzz)\\w*)`")
	feature  = regexp.MustCompile(`^\| \d+ \|`)
)

func TestFeatures(t *testing.T) {
	report(t, features(os.DirFS(root)))
}

// features is the gate: every feature of the page is shown by tests or examples, here or in a
// nested module.
func features(fsys fs.FS) []string {
	text, err := fs.ReadFile(fsys, featuresPage)
	if err != nil {
		return []string{err.Error()}
	}
	known, err := tests(fsys)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	rows, line := 0, 0
	for row := range strings.Lines(string(text)) {
		if line++; !feature.MatchString(row) {
			continue
		}
		rows++
		names := shown.FindAllStringSubmatch(row, -1)
		if len(names) == 0 {
			problems = append(problems, fmt.Sprintf("%s:%d: no test shows this feature", featuresPage, line))
		}
		for _, name := range names {
			if !known[name[1]] {
				problems = append(problems, fmt.Sprintf("%s:%d: there is no %s", featuresPage, line, name[1]))
			}
		}
	}
	if rows == 0 {
		problems = append(problems, featuresPage+": there are no features: has its form changed?")
	}
	return problems
}

// tests returns the names of all tests and examples below a folder.
func tests(fsys fs.FS) (map[string]bool, error) {
	known := map[string]bool{}
	return known, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (hidden(base) || base == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		for _, f := range declared.FindAllStringSubmatch(string(text), -1) {
			known[f[1]] = true
		}
		return err
	})
}

func TestFeaturesFindsWhatIsMissing(t *testing.T) {
	page := func(text string) fs.FS {
		return fstest.MapFS{
			featuresPage:           {Data: []byte(text)},
			"a/a_test.go":          {Data: []byte("package a\n\nfunc TestA(t *testing.T) {}\n")},
			"nested/n_test.go":     {Data: []byte("package n\n\nfunc ExampleN() {}\n")},
			"a/testdata/x_test.go": {Data: []byte("package x\n\nfunc TestX(t *testing.T) {}\n")},
			"a/b.go":               {Data: []byte("package a\n\nfunc TestB() {}\n")},
		}
	}
	expect(t, features(page("# F\n\n| # |\n| 1 | a | `b` | `TestA`, `ExampleN` |\n")))
	expect(t, features(page("| 1 | a | b | `TestA`, `TestX` |\n| 2 | c | d | `TestB` |\n| 3 | `e` | f | |\n")),
		"md:1: there is no TestX", "md:2: there is no TestB", "md:3: no test")
	expect(t, features(page("# F\n")), "there are no features")
	expect(t, features(fstest.MapFS{}), featuresPage)
}
