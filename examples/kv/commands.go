package main

import (
	"math"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// entry is a command, or a subcommand. Exactly one of run, do and subs is set, but a command may
// have both run, for use without a subcommand, and subs.
type entry struct {
	name        string // lower case; a subcommand's has its command's in front: "config|get"
	least, most int    // arguments, the name included
	pairs       bool   // arguments behind the name must come in pairs
	key         int    // which argument is the key; 0: the first
	traits      trait

	run   func(f *front, s *command) core.Yield    // the front does the command
	do    func(t *store, s *storeStack) resp.Reply // the store of the key does it; with merge all
	merge func(f *front, s *command) resp.Reply    // puts the replies of all stores together
	sums  bool                                     // merge adds: one key needs one store only
	subs  []entry

	folded folded // the name, for lookup
}

// trait is a property of a command by which the front decides whether and how to do it.
type trait uint8

const (
	grows trait = 1 << iota // is refused when memory is used up
	open                    // needs no password
	walks                   // may be a walk: see isLong
	whole                   // of walks: reads all of a hash
	picks                   // of walks: its count decides
	alone                   // takes several steps: see order
)

const lots = math.MaxInt

// commands is sorted by name; lookup finds one.
var commands []entry

// byName finds commands by the hash of the name, with linear probing. It has their index in
// commands plus one; 0: empty. A map would cost each request as much as decoding does.
var byName [256]uint8

func init() { // commands and the functions of COMMAND refer to each other
	commands = []entry{
		{name: "append", least: 3, most: 3, traits: grows, do: (*store).append},
		{name: "auth", least: 2, most: lots, traits: open, run: (*front).auth},
		{name: "client", least: 2, most: lots, subs: clientCommands},
		{name: "command", least: 1, most: lots, run: (*front).catalog, subs: catalogCommands},
		{name: "config", least: 2, most: lots, subs: configCommands},
		{name: "dbsize", least: 1, most: 1, do: (*store).dbsize, merge: (*front).sum},
		{name: "debug", least: 2, most: lots, subs: debugCommands},
		{name: "decr", least: 2, most: 2, traits: grows, do: (*store).decr},
		{name: "decrby", least: 3, most: 3, traits: grows, do: (*store).decrBy},
		{name: "del", least: 2, most: lots, do: (*store).del, merge: (*front).sum, sums: true},
		{name: "echo", least: 2, most: 2, run: (*front).echo},
		{name: "exists", least: 2, most: lots, traits: walks, do: (*store).exists, merge: (*front).sum, sums: true},
		{name: "expire", least: 3, most: lots, do: (*store).expire},
		{name: "expireat", least: 3, most: lots, do: (*store).expireAt},
		{name: "expiretime", least: 2, most: 2, do: (*store).expireTime},
		{name: "flushall", least: 1, most: lots, do: (*store).flush, merge: (*front).allOK},
		{name: "flushdb", least: 1, most: lots, do: (*store).flush, merge: (*front).allOK},
		{name: "get", least: 2, most: 2, do: (*store).get},
		{name: "getdel", least: 2, most: 2, do: (*store).getDel},
		{name: "getex", least: 2, most: lots, do: (*store).getEx},
		{name: "getrange", least: 4, most: 4, do: (*store).getRange},
		{name: "getset", least: 3, most: 3, traits: grows, do: (*store).getSet},
		{name: "hdel", least: 3, most: lots, do: (*store).hdel},
		{name: "hello", least: 1, most: lots, traits: open, run: (*front).hello},
		{name: "hexists", least: 3, most: 3, do: (*store).hexists},
		{name: "hget", least: 3, most: 3, do: (*store).hget},
		{name: "hgetall", least: 2, most: 2, traits: walks | whole, do: (*store).hgetall},
		{name: "hincrby", least: 4, most: 4, traits: grows, do: (*store).hincrBy},
		{name: "hincrbyfloat", least: 4, most: 4, traits: grows, do: (*store).hincrByFloat},
		{name: "hkeys", least: 2, most: 2, traits: walks | whole, do: (*store).hkeys},
		{name: "hlen", least: 2, most: 2, do: (*store).hlen},
		{name: "hmget", least: 3, most: lots, traits: walks, do: (*store).hmget},
		{name: "hmset", least: 4, most: lots, traits: grows, do: (*store).hmset},
		{name: "hrandfield", least: 2, most: lots, traits: walks | picks, do: (*store).hrandfield},
		{name: "hscan", least: 3, most: lots, traits: alone, run: (*front).hscan},
		{name: "hset", least: 4, most: lots, traits: grows, do: (*store).hset},
		{name: "hsetnx", least: 4, most: 4, traits: grows, do: (*store).hsetNX},
		{name: "hstrlen", least: 3, most: 3, do: (*store).hstrlen},
		{name: "hvals", least: 2, most: 2, traits: walks | whole, do: (*store).hvals},
		{name: "incr", least: 2, most: 2, traits: grows, do: (*store).incr},
		{name: "incrby", least: 3, most: 3, traits: grows, do: (*store).incrBy},
		{name: "incrbyfloat", least: 3, most: 3, traits: grows, do: (*store).incrByFloat},
		{name: "info", least: 1, most: lots, run: (*front).info},
		{name: "keys", least: 2, most: 2, traits: alone, run: (*front).keys},
		{name: "memory", least: 2, most: lots, subs: memoryCommands},
		{name: "mget", least: 2, most: lots, traits: walks, do: (*store).mget, merge: (*front).interleave},
		{name: "mset", least: 3, most: lots, pairs: true, traits: grows, do: (*store).mset, merge: (*front).allOK},
		{name: "msetnx", least: 3, most: lots, pairs: true, traits: grows | alone, run: (*front).msetNX},
		{name: "object", least: 2, most: lots, subs: objectCommands},
		{name: "persist", least: 2, most: 2, do: (*store).persist},
		{name: "pexpire", least: 3, most: lots, do: (*store).pexpire},
		{name: "pexpireat", least: 3, most: lots, do: (*store).pexpireAt},
		{name: "pexpiretime", least: 2, most: 2, do: (*store).pexpireTime},
		{name: "ping", least: 1, most: lots, run: (*front).ping},
		{name: "psetex", least: 4, most: 4, traits: grows, do: (*store).psetEx},
		{name: "pttl", least: 2, most: 2, do: (*store).pttl},
		{name: "quit", least: 1, most: lots, traits: open, run: (*front).quit},
		{name: "randomkey", least: 1, most: 1, do: (*store).randomKey, merge: (*front).pick},
		{name: "rename", least: 3, most: 3, traits: alone, run: (*front).rename},
		{name: "renamenx", least: 3, most: 3, traits: alone, run: (*front).renameNX},
		{name: "reset", least: 1, most: 1, traits: open, run: (*front).reset},
		{name: "scan", least: 2, most: lots, traits: alone, run: (*front).scan},
		{name: "select", least: 2, most: 2, run: (*front).selectDB},
		{name: "set", least: 3, most: lots, traits: grows, do: (*store).set},
		{name: "setex", least: 4, most: 4, traits: grows, do: (*store).setEx},
		{name: "setnx", least: 3, most: 3, traits: grows, do: (*store).setNX},
		{name: "setrange", least: 4, most: 4, traits: grows, do: (*store).setRange},
		{name: "strlen", least: 2, most: 2, do: (*store).strlen},
		{name: "substr", least: 4, most: 4, do: (*store).getRange},
		{name: "touch", least: 2, most: lots, traits: walks, do: (*store).exists, merge: (*front).sum, sums: true},
		{name: "ttl", least: 2, most: 2, do: (*store).ttl},
		{name: "type", least: 2, most: 2, do: (*store).typeOf},
		{name: "unlink", least: 2, most: lots, do: (*store).del, merge: (*front).sum, sums: true},
	}
	for i := range commands {
		at := foldName([]byte(commands[i].name)).hash()
		for byName[at] != 0 {
			at++
		}
		commands[i].folded = foldName([]byte(commands[i].name))
		byName[at] = uint8(i + 1)
	}
}

// arity is the number of arguments as COMMAND tells it: negative if it varies.
func (e *entry) arity() int64 {
	if e.least == e.most {
		return int64(e.least)
	}
	return -int64(e.least)
}

// takes reports whether the command may have n arguments, as arity tells everyone. Other errors in
// the arguments are told only to clients that may use the command.
func (e *entry) takes(n int) bool { return n >= e.least && n <= e.most }

// ofAll reports whether every store does a part of cmd.
func (e *entry) ofAll(cmd *resp.Command) bool { return e.merge != nil && !(e.sums && cmd.Len() == 2) }

// nameMax is the length of the longest name.
const nameMax = 16

// lookup returns the command with that name, in any case; nil if there is none.
//
//alloc:none
func lookup(name []byte) *entry {
	if i := number(name); i >= 0 {
		return &commands[i]
	}
	return nil
}

// number returns the index in commands of the command with that name, in any case; -1 if there is
// none.
//
//alloc:none
func number(name []byte) int {
	if len(name) > nameMax {
		return -1
	}
	key := foldName(name)
	for at := key.hash(); byName[at] != 0; at++ {
		if i := int(byName[at] - 1); commands[i].folded == key {
			return i
		}
	}
	return -1
}

// folded is a name in lower case, filled up with zeros. All names are letters, whose two cases
// differ in one bit; setting that bit makes no other byte equal to a lower-case letter.
type folded [nameMax / 8]uint64

func foldName(name []byte) (f folded) {
	for i, c := range name {
		f[i/8] = f[i/8]<<8 | uint64(c|0x20)
	}
	return f
}

func (f folded) hash() uint8 {
	return uint8((f[0]*0x9e3779b97f4a7c15 ^ f[1]*0xbf58476d1ce4e5b9) >> 56)
}

// sub returns the subcommand with that name, in any case; nil if there is none.
func (e *entry) sub(name []byte) *entry {
	for i := range e.subs {
		if s := &e.subs[i]; resp.EqualFold(name, s.name[len(e.name)+1:]) {
			return s
		}
	}
	return nil
}
