package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkCompile prints what a handler costs whoever builds a program: what the compiler takes
// for one with 40 handlers of asks and a guest's ask of each, beyond one with a single handler, and
// how much longer the program is.
func BenchmarkCompile(b *testing.B) {
	dir := b.TempDir()
	imports := importsOf(b, dir, "github.com/stackhouse-go/stackhouse/core", "github.com/stackhouse-go/stackhouse/house")
	const many = 40
	var cpu time.Duration
	var memory, size int64
	for b.Loop() {
		c40, m40, s40 := compiled(b, dir, imports, many)
		c1, m1, s1 := compiled(b, dir, imports, 1)
		cpu, memory, size = cpu+c40-c1, memory+m40-m1, size+s40-s1
	}
	per := float64(b.N) * (many - 1)
	b.ReportMetric(0, "ns/op") // which is of both programs, and of the linker
	b.ReportMetric(float64(cpu.Milliseconds())/per, "cpu-ms/handler")
	b.ReportMetric(float64(memory)/per/(1<<20), "MB/handler")
	b.ReportMetric(float64(size)/per/(1<<10), "program-KB/handler")
}

// importsOf writes the file in which the compiler and the linker find packages.
func importsOf(b *testing.B, dir string, packages ...string) (file string) {
	list := exec.CommandContext(b.Context(), "go", append([]string{"list", "-export", "-deps",
		"-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}"}, packages...)...)
	out, err := list.Output()
	if err != nil {
		b.Fatal(err)
	}
	file = filepath.Join(dir, "imports")
	if err := os.WriteFile(file, out, 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

// compiled returns what it took to compile a program of n handlers, and how long it is.
func compiled(b *testing.B, dir, imports string, n int) (cpu time.Duration, memory, size int64) {
	source, object, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.o"), filepath.Join(dir, "main")
	if err := os.WriteFile(source, []byte(programOf(n)), 0o600); err != nil {
		b.Fatal(err)
	}
	run := func(args ...string) *os.ProcessState {
		c := exec.CommandContext(b.Context(), "go", append([]string{"tool"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return c.ProcessState
	}
	done := run("compile", "-p", "main", "-importcfg", imports, "-o", object, source)
	run("link", "-importcfg", imports, "-o", program, object)
	info, err := os.Stat(program)
	if err != nil {
		b.Fatal(err)
	}
	if usage, ok := done.SysUsage().(*syscall.Rusage); ok {
		memory = usage.Maxrss << 10 // Linux counts in KB
	}
	return done.UserTime() + done.SystemTime(), memory, info.Size()
}

// programOf returns a program of n handlers, each of its own types.
func programOf(n int) string {
	var s strings.Builder
	s.WriteString(`package main

import (
	"context"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

type server struct{ n int }
`)
	for i := range n {
		fmt.Fprintf(&s, `
type (
	req%[1]d struct { key string; n%[1]d int }
	rep%[1]d struct { value string; ok%[1]d bool }
	stack%[1]d struct { core.AskStack[req%[1]d, rep%[1]d]; seen int }
)

func (a *server) step%[1]d(s *stack%[1]d) core.Yield {
	a.n++
	s.seen++
	return s.Return(rep%[1]d{value: s.Req.key})
}

var handle%[1]d = core.Handle((*server).step%[1]d)
`, i)
	}
	s.WriteString(`
func main() {
	sys, err := house.New(house.Config{Workers: 1})
	if err != nil {
		panic(err)
	}
	a := core.Spawn(sys, func() *server { return &server{} })
`)
	for i := range n {
		fmt.Fprintf(&s, "\tcore.Ask(context.Background(), handle%[1]d.At(a), req%[1]d{key: \"k\"})\n", i)
	}
	s.WriteString("}\n")
	return s.String()
}
