package main

import (
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

var catalogCommands = []entry{
	{name: "command|count", least: 2, most: 2, run: (*front).catalogCount},
	{name: "command|docs", least: 2, most: lots, run: (*front).catalogDocs},
	{name: "command|help", least: 2, most: 2, run: help(
		"COMMAND <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"(no subcommand)",
		"    Return details about all commands.",
		"COUNT",
		"    Return the total number of commands.",
		"DOCS [<command-name> ...]",
		"    There are none.",
		"HELP",
		"    Print this help.",
		"INFO [<command-name> ...]",
		"    Return details about multiple commands.")},
	{name: "command|info", least: 2, most: 1 << 10, run: (*front).catalogInfo},
}

// detailMax is the length of one entry of COMMAND, in bytes.
const detailMax = 128

// catalog answers the details of all commands.
func (f *front) catalog(s *command) core.Yield {
	out := resp.AppendArray(s.Bytes(frameMax + len(commands)*detailMax)[:0], len(commands))
	for i := range commands {
		out = commands[i].appendDetails(out, s.version)
	}
	return s.answer(resp.Raw(out))
}

func (f *front) catalogCount(s *command) core.Yield { return s.answer(resp.Int(int64(len(commands)))) }

func (f *front) catalogDocs(s *command) core.Yield {
	return s.answer(resp.Raw(s.version.AppendMap(s.Bytes(frameMax)[:0], 0)))
}

func (f *front) catalogInfo(s *command) core.Yield {
	if s.Req.Len() == 2 {
		return f.catalog(s)
	}
	names := s.Req.Args(2)
	out := resp.AppendArray(s.Bytes(frameMax + names.Len()*detailMax)[:0], names.Len())
	for name, ok := names.Next(); ok; name, ok = names.Next() {
		if e := lookup(name); e != nil {
			out = e.appendDetails(out, s.version)
		} else {
			out = s.version.AppendNilArray(out)
		}
	}
	return s.answer(resp.Raw(out))
}

// appendDetails appends the name, the arity, flags, and the places of keys.
func (e *entry) appendDetails(out []byte, v resp.Version) []byte {
	out = resp.AppendArray(out, 6)
	out = resp.AppendBulkString(out, e.name)
	out = resp.AppendInt(out, e.arity())
	var flags [2]string
	n := 0
	if e.traits&grows != 0 {
		flags[n] = "denyoom"
		n++
	}
	if e.traits&open != 0 {
		flags[n] = "no_auth"
		n++
	}
	out = v.AppendSet(out, n)
	for _, flag := range flags[:n] {
		out = resp.AppendSimple(out, flag)
	}
	first, last, step := e.keys()
	return resp.AppendInt(resp.AppendInt(resp.AppendInt(out, first), last), step)
}

// keys returns which arguments are keys: the first, the last (-1: that of the command) and the
// distance between two keys.
func (e *entry) keys() (first, last, step int64) {
	switch {
	case e.pairs:
		return 1, -1, 2
	case e.name == "rename" || e.name == "renamenx":
		return 1, 2, 1
	case e.sums || e.name == "mget":
		return 1, -1, 1
	case e.do != nil && e.merge == nil || e.name == "hscan":
		return 1, 1, 1
	}
	return 0, 0, 0
}
