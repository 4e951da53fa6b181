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

// quote is a piece of code behind a paragraph that links to its file and ends with a colon.
var quote = regexp.MustCompile("(?s)\\]\\(([^)\\s]+\\.go)\\)(?:\n?[^\n])*?:\n\n```go\n(.*?)```")

func TestQuotes(t *testing.T) {
	report(t, quotes(os.DirFS(root), snippetPages))
}

// quotes is the gate: what a page quotes of a file stands there, letter by letter.
func quotes(fsys fs.FS, pages []string) (problems []string) {
	found := 0
	for _, pattern := range pages {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return []string{err.Error()}
		}
		for _, name := range names {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return []string{err.Error()}
			}
			for _, m := range quote.FindAllSubmatch(text, -1) {
				found++
				from := path.Join(path.Dir(name), string(m[1]))
				code, err := fs.ReadFile(fsys, from)
				if err != nil {
					problems = append(problems, fmt.Sprintf("%s: %v", name, err))
				} else if !strings.Contains(string(code), string(m[2])) {
					problems = append(problems, fmt.Sprintf("%s: what it quotes isn't in %s; quote that anew", name, from))
				}
			}
		}
	}
	if found == 0 {
		problems = append(problems, "quotes: no page has any: is this the right folder?")
	}
	return problems
}

func TestQuotesFindsWhatIsWrong(t *testing.T) {
	with := func(page string) fs.FS {
		return fstest.MapFS{
			"docs/a.md": {Data: []byte(page)},
			"b/b.go":    {Data: []byte("package b\n\nfunc f() {}\n\nfunc g() {}\n")},
		}
	}
	pages := []string{"docs/*.md"}
	expect(t, quotes(with("From [b](../b/b.go), as it is:\n\n```go\nfunc f() {}\n```\n\nA piece of its own:\n\n```go\nfunc h() {}\n```\n"), pages))
	expect(t, quotes(with("From [b](../b/b.go):\n\n```go\nfunc h() {}\n```\n"), pages), "docs/a.md: what it quotes isn't in b/b.go")
	expect(t, quotes(with("From [b](../b/b.go),\nas it is:\n\n```go\nfunc h() {}\n```\n"), pages), "docs/a.md: what it quotes isn't in b/b.go")
	expect(t, quotes(with("From [c](../b/c.go):\n\n```go\nfunc f() {}\n```\n"), pages), "docs/a.md: open b/c.go")
	expect(t, quotes(with("See [b](../b/b.go).\n\n```go\nfunc h() {}\n```\n"), pages), "no page has any")
}
