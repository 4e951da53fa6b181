package check

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// pageWords is how many words a page has at most: what grows beyond it goes to pages of its own.
var pageWords = map[string]int{"ARCHITECTURE.md": 6500, "README.md": 1600}

// codePages are those whose names in code quotes must be names of the code.
var codePages = []string{"ARCHITECTURE.md", "docs/design/*.md", "docs/guide/c*.md", "docs/guide/failure.md", "docs/guide/o*.md", "docs/guide/s*.md", "docs/guide/t*.md",
	"docs/guide/from-goroutines.md"}

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code     = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noSlug   = regexp.MustCompile(`[^a-z0-9 _-]`)
	quoted   = regexp.MustCompile("`([^`\n]+)`")
	codeName = regexp.MustCompile(`^[A-Za-z]\w*\.[A-Za-z]\w*$|^[a-z]+[A-Z]\w*$|^[A-Z]+[a-z]\w*$`)
	codeFile = regexp.MustCompile(`^[\w/.-]+/[\w.-]+\.(go|txt|table|md)$`)
)

func TestPages(t *testing.T) {
	report(t, pages(os.DirFS(root), pageWords))
}

// pages is the gate: links lead to pages and headings that exist, names in code quotes are names of
// the code, and no page is too long.
func pages(fsys fs.FS, limits map[string]int) []string {
	var problems []string
	texts, words, files := map[string]string{}, map[string]bool{}, map[string]bool{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name != "." && hidden(d.Name()) || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md" && path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if path.Ext(name) == ".md" {
			texts[name] = string(text)
		} else {
			identifiers(text, words)
			files[path.Base(name)] = true
		}
		return err
	})
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		problems = append(problems, links(fsys, name, texts)...)
		if n := len(strings.Fields(texts[name])); limits[name] > 0 && n > limits[name] {
			problems = append(problems, fmt.Sprintf("%s: %d words, %d are allowed; give a mechanism a page in docs/design", name, n, limits[name]))
		}
		if !slices.ContainsFunc(codePages, func(p string) bool { ok, _ := path.Match(p, name); return ok }) {
			continue
		}
		for _, q := range quoted.FindAllStringSubmatch(texts[name], -1) {
			switch last := q[1][strings.LastIndexByte(q[1], '.')+1:]; {
			case strings.Contains(q[1], "*"):
			case codeFile.MatchString(q[1]):
				if _, err := fs.Stat(fsys, q[1]); err != nil {
					problems = append(problems, fmt.Sprintf("%s: there is no %s", name, q[1]))
				}
			case path.Ext(q[1]) == ".go":
				if !files[path.Base(q[1])] {
					problems = append(problems, fmt.Sprintf("%s: there is no %s", name, q[1]))
				}
			case codeName.MatchString(q[1]) && !words[last]:
				problems = append(problems, fmt.Sprintf("%s: no code has the name %s", name, q[1]))
			}
		}
	}
	for name := range limits {
		if texts[name] == "" {
			problems = append(problems, fmt.Sprintf("pages: there is no %s", name))
		}
	}
	return problems
}

// identifiers adds those in a file, but for its comments and strings.
func identifiers(text []byte, to map[string]bool) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	for {
		switch _, tok, name := s.Scan(); tok {
		case token.EOF:
			return
		case token.IDENT:
			to[name] = true
		}
	}
}

// links returns what is wrong with those of a page.
func links(fsys fs.FS, name string, texts map[string]string) (problems []string) {
	for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(texts[name], ""), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		to, anchor, _ := strings.Cut(m[1], "#")
		if to == "" {
			to = name
		} else {
			to = path.Join(path.Dir(name), to)
		}
		if _, err := fs.Stat(fsys, to); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %s leads to nothing", name, m[1]))
			continue
		}
		if anchor != "" && !slices.Contains(slugs(texts[to]), anchor) {
			problems = append(problems, fmt.Sprintf("%s: %s leads to no heading", name, m[1]))
		}
	}
	return problems
}

// slugs returns the anchors of a page's headings.
func slugs(text string) (all []string) {
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return all
}

func TestPagesFindsWhatIsWrong(t *testing.T) {
	fine := map[string]string{
		"ARCHITECTURE.md":   "# A page\n\nSee [that](docs/design/b.md#two-words), [this](#a-page), [them](https://example.org/none): `House.ring`, `a/a.go`, `make test`.",
		"docs/design/b.md":  "# B\n\n## Two words\n\n[Back](../../ARCHITECTURE.md)",
		"a/a.go":            "package a\n\nfunc (h *House) ring() {}",
		"a/testdata/bad.md": "[no](no.md)",
	}
	with := func(name, text string) fs.FS {
		fsys := fstest.MapFS{}
		for name, text := range fine {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
		return fsys
	}
	limits := map[string]int{"ARCHITECTURE.md": 20}
	expect(t, pages(with("a/b.go", "package a"), limits))
	expect(t, pages(with("README.md", "[x](docs/none.md)"), limits), "README.md: docs/none.md leads to nothing")
	expect(t, pages(with("README.md", "[x](docs/design/b.md#three)"), limits), "leads to no heading")
	expect(t, pages(with("docs/design/c.md", "`House.rang`"), limits), "docs/design/c.md: no code has the name House.rang")
	expect(t, pages(with("docs/design/c.md", "`rangOut` and `a/b.go`"), limits), "no code has the name rangOut", "there is no a/b.go")
	expect(t, pages(with("a/b.go", "package a // rangOut\n\nvar _ = `rangOut`"), limits))
	expect(t, pages(with("docs/design/c.md", "`rangedIn` and `b.go`"), limits), "no code has the name rangedIn", "there is no b.go")
	expect(t, pages(with("ARCHITECTURE.md", strings.Repeat("word ", 21)), limits), "ARCHITECTURE.md: 21 words, 20 are allowed")
	expect(t, pages(with("README.md", ""), map[string]int{"NONE.md": 1}), "there is no NONE.md")
}
