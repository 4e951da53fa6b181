package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

const errMemory = "OOM command not allowed when used memory > 'maxmemory'."

// memory is how many bytes all stores use, and may use. A front looks before it asks a store, so
// commands in flight can exceed the limit.
type memory struct {
	limit atomic.Int64 // bytes; 0: none
	parts [storesMax]part
}

// Requests are in memory until they are answered, beside the values: so their bounds are lower
// where maxmemory is small.

// argumentMax is how long an argument may be, in bytes: a fourth of maxmemory, but at least 1 MiB
// and at most 64 MiB, as without a limit.
func argumentMax(maxmemory int64) int { return partOf(maxmemory, 4) }

// inputMax is channel.Config.InputMax: an eighth of maxmemory, with the same bounds.
func inputMax(maxmemory int64) int { return partOf(maxmemory, 8) }

func partOf(maxmemory, parts int64) int {
	const least, most = 1 << 20, 64 << 20
	if maxmemory == 0 { // there is no limit
		return most
	}
	return int(min(max(maxmemory/parts, least), most))
}

// part is what one store uses, written by it and read by fronts.
type part struct {
	used, held atomic.Int64 // bytes: of keys, values and indexes; of its memory
	_          [128 - 16]byte
}

// tell publishes how much memory t uses, if there is a limit.
func (m *memory) tell(t *store) {
	if m.limit.Load() != 0 {
		m.publish(t)
	}
}

func (m *memory) publish(t *store) {
	m.parts[t.index].used.Store(int64(t.table.Used()))
	m.parts[t.index].held.Store(int64(t.table.Bytes()))
}

func (m *memory) used() (used, held int64) {
	for i := range m.parts {
		used += m.parts[i].used.Load()
		held += m.parts[i].held.Load()
	}
	return used, held
}

// full reports whether commands that make values grow are refused.
func (m *memory) full() bool {
	limit := m.limit.Load()
	if limit == 0 {
		return false
	}
	used, _ := m.used()
	return used > limit
}

// units are the units of sizes, as Redis has them: k is decimal, kb binary.
var units = map[string]int64{"": 1, "b": 1, "k": 1e3, "kb": 1 << 10, "m": 1e6, "mb": 1 << 20, "g": 1e9, "gb": 1 << 30}

// parseSize reads a number of bytes, as in 100mb.
func parseSize(text string) (n int64, ok bool) {
	digits := strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	unit, ok := units[strings.ToLower(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n < 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}

var memoryCommands = []entry{
	{name: "memory|doctor", least: 2, most: 2, run: (*front).memoryDoctor},
	{name: "memory|help", least: 2, most: 2, run: help(
		"MEMORY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"DOCTOR",
		"    Return what memory is used for.",
		"HELP",
		"    Print this help.",
		"PURGE",
		"    Does nothing: memory is given back as it becomes free.",
		"USAGE <key> [SAMPLES <count>]",
		"    Return about how many bytes <key> and its value take.")},
	{name: "memory|purge", least: 2, most: 2, run: (*front).memoryPurge},
	{name: "memory|usage", least: 3, most: lots, key: 2, do: (*store).memoryUsage},
}

func (f *front) memoryDoctor(s *command) core.Yield {
	used, held := f.stores.memory.used()
	text := fmt.Sprintf("The values take %d bytes, the stores hold %d, the limit is %d (0: none). See MEMORY USAGE for single keys.\n",
		used, held, f.stores.memory.limit.Load())
	return s.answer(resp.Verbatim("txt", s.Copy([]byte(text))))
}

func (f *front) memoryPurge(s *command) core.Yield { return s.answer(resp.OK()) }

func (t *store) memoryUsage(s *storeStack) resp.Reply {
	words := s.cmd.Args(3)
	for arg, ok := words.Next(); ok; arg, ok = words.Next() {
		value, there := words.Next()
		if !there || !resp.EqualFold(arg, "samples") {
			return resp.Err(errSyntax)
		}
		switch n, ok := resp.ParseInt(value); {
		case !ok:
			return resp.Err(errInteger)
		case n < 0:
			return resp.Err(errSyntax)
		}
	}
	n, ok := t.table.Weigh(s.arg(2), core.Now(s))
	if !ok {
		return resp.Nil()
	}
	return resp.Int(int64(n))
}
