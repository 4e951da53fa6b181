package core_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// Journal appends lines to a file. It answers when they are on the disk, and syncs as many as
// have come meanwhile at once: group commit.
type Journal struct {
	file  *os.File
	syncs int
}

type (
	// Append asks for a line.
	Append struct{ Line string }

	appendStack struct {
		core.BatchAskStack[Append, int] // the answer: how many syncs there were
		synced                          core.Future[struct{}]
	}

	// page is what a function gets: a file, which may be used by several at a time, and lines
	// that nobody else has.
	page struct {
		file  *os.File
		lines []byte
	}
)

func (j *Journal) append(s *appendStack) core.Yield {
	s.Barrier() // what comes from now on is the next batch
	var lines []byte
	for _, a := range s.All() {
		lines = append(append(lines, a.Line...), '\n')
	}
	// so the barrier covers it, whoever gives up
	core.OffloadKept(s, &s.synced, nil, page{j.file, lines}, commitPage)
	return core.Suspend(s, (*Journal).appended)
}

func commitPage(_ context.Context, p page) (struct{}, error) {
	if _, err := p.file.Write(p.lines); err != nil {
		return struct{}{}, err
	}
	return struct{}{}, p.file.Sync()
}

func (j *Journal) appended(s *appendStack) core.Yield {
	if _, err := s.synced.Get(); err != nil {
		return s.ThrowAll(err) // who knows what is on the disk now
	}
	j.syncs++
	return s.ReturnAll(j.syncs)
}

// JournalAppend is what others may ask of a Journal.
var JournalAppend = core.HandleBatch((*Journal).append, 0)

// A journal with group commit: one write at a time, of all that came during the last one.
func ExampleOffloadKept() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		panic(err)
	}
	defer file.Close()
	sys, err := house.New(house.Config{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if err := sys.Start(ctx); err != nil {
		panic(err)
	}
	defer sys.Shutdown(ctx)

	journal := JournalAppend.At(core.Spawn(sys, func() *Journal { return &Journal{file: file} }))
	var calls [100]core.Pending[int]
	for i := range calls {
		calls[i] = core.Begin(journal, Append{fmt.Sprint("line ", i)})
	}
	syncs := 0
	for _, c := range calls {
		if syncs, err = c.Get(); err != nil {
			panic(err)
		}
	}
	all, err := os.ReadFile(file.Name())
	fmt.Println(bytes.Count(all, []byte("\n")), "lines", err)
	fmt.Println("fewer syncs:", syncs < len(calls))
	// Output:
	// 100 lines <nil>
	// fewer syncs: true
}
