package main

import (
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
)

// Commands on keys, whatever they hold.

func (t *store) del(s *storeStack) resp.Reply {
	now, n := core.Now(s), int64(0)
	keys := s.cmd.Args(1)
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		if t.mine(key) && t.table.Delete(key, now) {
			n++
		}
	}
	return resp.Int(n)
}

func (t *store) exists(s *storeStack) resp.Reply {
	now, n := core.Now(s), int64(0)
	keys := s.cmd.Args(1)
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		if t.mine(key) && t.table.Exists(key, now) {
			n++
		}
	}
	return resp.Int(n)
}

func (t *store) dbsize(*storeStack) resp.Reply { return resp.Int(int64(t.table.Len())) }

func (t *store) flush(s *storeStack) resp.Reply {
	cmd := s.cmd
	if cmd.Len() > 2 || (cmd.Len() == 2 && !resp.EqualFold(cmd.Arg(1), "sync") && !resp.EqualFold(cmd.Arg(1), "async")) {
		return resp.Err(errSyntax)
	}
	t.table.Clear()
	return resp.OK()
}

// randomKey answers a key of this store, with the number of its keys: see pick.
func (t *store) randomKey(s *storeStack) resp.Reply {
	key, ok := t.table.Random(t.dice.roll(), core.Now(s))
	if !ok {
		return resp.Reply{}
	}
	rep := resp.Bulk(s.Copy(key))
	rep.Int = int64(t.table.Len())
	return rep
}

func (t *store) typeOf(s *storeStack) resp.Reply {
	kind, ok := t.table.Kind(s.arg(1), core.Now(s))
	if !ok {
		return resp.Simple("none")
	}
	return resp.Simple(typeName(kind))
}

func typeName(kind table.Kind) string {
	if kind.IsHash() {
		return "hash"
	}
	return "string"
}

var objectCommands = []entry{
	{name: "object|encoding", least: 3, most: 3, key: 2, do: (*store).encoding},
	{name: "object|freq", least: 3, most: 3, key: 2, do: (*store).freq},
	{name: "object|help", least: 2, most: 2, run: help(
		"OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"ENCODING <key>",
		"    Return how the value of <key> is kept, in the words of Redis.",
		"FREQ <key>",
		"    Not counted here.",
		"HELP",
		"    Print this help.",
		"IDLETIME <key>",
		"    Always 0: accesses are not counted here.",
		"REFCOUNT <key>",
		"    Return what Redis would.")},
	{name: "object|idletime", least: 3, most: 3, key: 2, do: (*store).idleTime},
	{name: "object|refcount", least: 3, most: 3, key: 2, do: (*store).refCount},
}

// embedMax is the longest string that Redis keeps in one block with its header.
const embedMax = 44

func (t *store) encoding(s *storeStack) resp.Reply {
	value, kind, ok := t.table.Look(s.arg(2), core.Now(s))
	switch {
	case !ok:
		return resp.Nil()
	case kind == table.Packed:
		return resp.Bulk(listpack)
	case kind == table.Indexed:
		return resp.Bulk(hashtable)
	case kind == table.Edited:
		return resp.Bulk(raw)
	case kind == table.String && isInteger(value):
		return resp.Bulk(integer)
	case len(value) <= embedMax:
		return resp.Bulk(embedded)
	}
	return resp.Bulk(raw)
}

// Redis' names of the ways to keep a value.
var listpack, hashtable, raw, integer, embedded = []byte("listpack"), []byte("hashtable"), []byte("raw"), []byte("int"), []byte("embstr")

func isInteger(value []byte) bool {
	_, ok := resp.ParseInt(value)
	return ok
}

// sharedMax bounds the integers of which Redis has one shared object each, with a count of 1<<31-1.
const sharedMax = 10000

func (t *store) refCount(s *storeStack) resp.Reply {
	value, kind, ok := t.table.Look(s.arg(2), core.Now(s))
	if !ok {
		return resp.Nil()
	}
	if n, ok := resp.ParseInt(value); ok && kind == table.String && n >= 0 && n < sharedMax {
		return resp.Int(1<<31 - 1)
	}
	return resp.Int(1)
}

func (t *store) idleTime(s *storeStack) resp.Reply {
	if !t.table.Exists(s.arg(2), core.Now(s)) {
		return resp.Nil()
	}
	return resp.Int(0)
}

func (t *store) freq(s *storeStack) resp.Reply {
	if !t.table.Exists(s.arg(2), core.Now(s)) {
		return resp.Nil()
	}
	return resp.Err("ERR An LFU maxmemory policy is not selected, access frequency not tracked. " +
		"Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
}
