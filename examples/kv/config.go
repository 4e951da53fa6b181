package main

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// parameter is a setting that CONFIG GET tells and CONFIG SET may change.
type parameter struct {
	name string
	get  func(f *front) string
	set  func(f *front, value string) (complaint string) // nil: accepts only the present value
}

func fixed(value string) func(*front) string { return func(*front) string { return value } }

var parameters = []parameter{
	{name: "appendonly", get: fixed("no")},
	{name: "databases", get: fixed("1")},
	{name: "hash-max-listpack-entries", get: fixed("512")},
	{name: "hash-max-listpack-value", get: fixed("64")},
	{name: "maxmemory", get: func(f *front) string { return strconv.FormatInt(f.stores.memory.limit.Load(), 10) }, set: setMaxmemory},
	{name: "maxmemory-policy", get: fixed("noeviction")},
	{name: "proto-max-bulk-len", get: fixed(strconv.Itoa(64 << 20))},
	{name: "requirepass", set: setPassword}, // CONFIG GET can't tell it: only its hash is kept
	{name: "save", get: fixed("")},
}

func setMaxmemory(f *front, value string) string {
	n, ok := parseSize(value)
	if !ok {
		return "argument must be a memory value"
	}
	f.stores.memory.limit.Store(n)
	return ""
}

func setPassword(f *front, value string) string {
	if value == "" && f.service.secret.needed() && f.service.exposed.Load() {
		return "without it everyone could use the server who reaches its address; see -requirepass and -addr"
	}
	f.service.secret.set(value)
	return ""
}

var configCommands = []entry{
	{name: "config|get", least: 3, most: lots, run: (*front).configGet},
	{name: "config|help", least: 2, most: 2, run: help(
		"CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"GET <pattern> [<pattern> ...]",
		"    Return parameters that match one of the glob-like patterns, and their values.",
		"HELP",
		"    Print this help.",
		"RESETSTAT",
		"    Accepted: statistics are not reset here.",
		"SET <directive> <value> [<directive> <value> ...]",
		"    Set maxmemory or requirepass.")},
	{name: "config|resetstat", least: 2, most: 2, run: (*front).configResetStat},
	{name: "config|set", least: 4, most: lots, run: (*front).configSet},
}

func (f *front) configResetStat(s *command) core.Yield { return s.answer(resp.OK()) }

// patternsMax bounds the arguments of one CONFIG GET, in bytes, as all of it is done in one step.
const patternsMax = 16 << 10

// configGet answers the parameters that match one of the patterns.
func (f *front) configGet(s *command) core.Yield {
	if len(s.Req.Raw()) > patternsMax {
		return s.answer(resp.Err("ERR the patterns of CONFIG GET are too long: 16 KiB together is the most"))
	}
	var found []*parameter
	var names [][]byte // in the spelling of the request
	size := frameMax
	for i := range parameters {
		p := &parameters[i]
		if p.get == nil {
			continue
		}
		patterns := s.Req.Args(2)
		for pattern, ok := patterns.Next(); ok; pattern, ok = patterns.Next() {
			if matches(bytes.ToLower(pattern), []byte(p.name)) {
				found = append(found, p)
				if bytes.ContainsAny(pattern, "[*?") {
					pattern = []byte(p.name)
				}
				names = append(names, pattern)
				size += 3*frameMax + len(p.name)
				break
			}
		}
	}
	out := s.version.AppendMap(s.Bytes(size)[:0], len(found))
	for i, p := range found {
		out = resp.AppendBulk(out, names[i])
		out = resp.AppendBulkString(out, p.get(f))
	}
	return s.answer(resp.Raw(out))
}

// configSet sets all parameters or none. Only if a value is refused are those before it set.
func (f *front) configSet(s *command) core.Yield {
	cmd := &s.Req.Command
	if cmd.Len()%2 != 0 {
		return s.answer(resp.Err(errSyntax))
	}
	failed := func(p *parameter, why string) core.Yield {
		return s.answer(resp.Err(fmt.Sprintf("ERR CONFIG SET failed (possibly related to argument '%s') - %s", p.name, why)))
	}
	seen := map[*parameter]bool{}
	for i := 2; i < cmd.Len(); i += 2 {
		p := parameterOf(cmd.Arg(i))
		switch {
		case p == nil:
			return s.answer(resp.Err(fmt.Sprintf("ERR Unknown option or number of arguments for CONFIG SET - '%s'", clip(cmd.Arg(i), len(cmd.Arg(i))))))
		case p.set == nil && p.get(f) != string(cmd.Arg(i+1)):
			return failed(p, "can't set immutable config")
		case seen[p]:
			return failed(p, "duplicate parameter")
		}
		seen[p] = true
	}
	for i := 2; i < cmd.Len(); i += 2 {
		if p := parameterOf(cmd.Arg(i)); p.set != nil {
			if complaint := p.set(f, string(cmd.Arg(i+1))); complaint != "" {
				return failed(p, complaint)
			}
		}
	}
	return s.answer(resp.OK())
}

func parameterOf(name []byte) *parameter {
	for i := range parameters {
		if resp.EqualFold(name, parameters[i].name) {
			return &parameters[i]
		}
	}
	return nil
}
