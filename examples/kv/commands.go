package main

import (
	"math"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// entry is one command. Exactly one of run and do is set.
type entry struct {
	name        string // lower case
	least, most int    // arguments, the name included
	pairs       bool   // arguments behind the name come in twos

	run   func(f *front, s *command) core.Yield    // done by the front itself
	do    func(t *store, s *storeStack) resp.Reply // done by the store of the first argument, or
	merge func(f *front, s *command) resp.Reply    // by every store; then put together
	sums  bool                                     // merge adds: one key needs one store only
}

const lots = math.MaxInt

// commands is sorted by name; lookup finds one.
var commands []entry

// byName finds commands without an allocation for the caller.
var byName = map[[nameMax]byte]int{}

func init() { // COMMAND refers to commands, and they to it
	commands = []entry{
		{name: "append", least: 3, most: 3, do: (*store).append},
		{name: "command", least: 1, most: lots, run: (*front).command},
		{name: "config", least: 2, most: lots, run: (*front).config},
		{name: "dbsize", least: 1, most: 1, do: (*store).dbsize, merge: (*front).sum},
		{name: "decr", least: 2, most: 2, do: (*store).decr},
		{name: "del", least: 2, most: lots, do: (*store).del, merge: (*front).sum, sums: true},
		{name: "echo", least: 2, most: 2, run: (*front).echo},
		{name: "exists", least: 2, most: lots, do: (*store).exists, merge: (*front).sum, sums: true},
		{name: "expire", least: 3, most: 3, do: (*store).expire},
		{name: "flushall", least: 1, most: lots, do: (*store).flushall, merge: (*front).allOK},
		{name: "get", least: 2, most: 2, do: (*store).get},
		{name: "incr", least: 2, most: 2, do: (*store).incr},
		{name: "info", least: 1, most: lots, run: (*front).info},
		{name: "mget", least: 2, most: lots, do: (*store).mget, merge: (*front).interleave},
		{name: "mset", least: 3, most: lots, pairs: true, do: (*store).mset, merge: (*front).allOK},
		{name: "persist", least: 2, most: 2, do: (*store).persist},
		{name: "ping", least: 1, most: 2, run: (*front).ping},
		{name: "quit", least: 1, most: lots, run: (*front).quit},
		{name: "select", least: 2, most: 2, run: (*front).selectDB},
		{name: "set", least: 3, most: lots, do: (*store).set},
		{name: "strlen", least: 2, most: 2, do: (*store).strlen},
		{name: "ttl", least: 2, most: 2, do: (*store).ttl},
	}
	for i := range commands {
		var key [nameMax]byte
		copy(key[:], commands[i].name)
		byName[key] = i
	}
}

// arity is the number of arguments as COMMAND tells it: negative if it varies.
func (e *entry) arity() int64 {
	if e.least == e.most {
		return int64(e.least)
	}
	return -int64(e.least)
}

// nameMax is the length of the longest name.
const nameMax = 16

// lookup returns the command of that name, in any case; nil if there is none.
func lookup(name []byte) *entry {
	var key [nameMax]byte
	if len(name) > nameMax {
		return nil
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		key[i] = c
	}
	if i, ok := byName[key]; ok {
		return &commands[i]
	}
	return nil
}
