package main

import (
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

var clientCommands = []entry{
	{name: "client|getname", least: 2, most: 2, run: (*front).clientGetName},
	{name: "client|help", least: 2, most: 2, run: help(
		"CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"GETNAME",
		"    Return the name of the current connection.",
		"ID",
		"    Return the ID of the current connection.",
		"INFO",
		"    Return information about the current client connection.",
		"KILL ID <client-id> SKIPME NO",
		"    Kill the current connection; others are not known here.",
		"LIST [ID <client-id> ...]",
		"    Return information about the current connection; others are not known here.",
		"NO-EVICT (ON|OFF)",
		"    Accepted: nothing evicts clients here.",
		"REPLY (ON|OFF|SKIP)",
		"    Control the replies sent to the current connection.",
		"SETNAME <name>",
		"    Assign the name <name> to the current connection.",
		"HELP",
		"    Print this help.")},
	{name: "client|id", least: 2, most: 2, run: (*front).clientID},
	{name: "client|info", least: 2, most: 2, run: (*front).clientInfo},
	{name: "client|kill", least: 3, most: lots, run: (*front).clientKill},
	{name: "client|list", least: 2, most: lots, run: (*front).clientList},
	{name: "client|no-evict", least: 3, most: 3, run: (*front).clientNoEvict},
	{name: "client|reply", least: 3, most: 3, run: (*front).clientReply},
	{name: "client|setname", least: 3, most: 3, run: (*front).clientSetName},
}

const errName = "ERR Client names cannot contain spaces, newlines or special characters."

// validName reports whether a name needs no quotes in CLIENT LIST.
func validName(name []byte) bool {
	for _, c := range name {
		if c < '!' || c > '~' {
			return false
		}
	}
	return true
}

func (f *front) clientID(s *command) core.Yield { return s.answer(resp.Int(s.Req.session.id)) }

func (f *front) clientGetName(s *command) core.Yield {
	if name := s.Req.session.name; name != "" {
		return s.answer(resp.Bulk(s.Copy([]byte(name))))
	}
	return s.answer(resp.Nil())
}

func (f *front) clientSetName(s *command) core.Yield {
	name := s.Req.Arg(2)
	if !validName(name) {
		return s.answer(resp.Err(errName))
	}
	s.Req.session.name = string(name)
	return s.answer(resp.OK())
}

// describe is the line of CLIENT LIST about the connection, with what this server knows of it.
func (s *command) describe(sub string) []byte {
	c := s.Req.session
	return s.Copy(fmt.Appendf(nil, "id=%d addr=?:0 laddr=?:0 fd=-1 name=%s age=%d idle=0 flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 "+
		"events=r cmd=client|%s user=%s redir=-1 resp=%d\n", c.id, c.name, time.Now().Unix()-c.began, sub, userName, max(s.version, resp.V2)))
}

func (f *front) clientInfo(s *command) core.Yield {
	return s.answer(resp.Verbatim("txt", s.describe("info")))
}

// clientList is CLIENT LIST [TYPE type | ID id...].
func (f *front) clientList(s *command) core.Yield {
	listed := true
	switch cmd := &s.Req.Command; {
	case cmd.Len() == 2:
	case cmd.Len() == 4 && resp.EqualFold(cmd.Arg(2), "type"):
		if !isClientType(cmd.Arg(3)) {
			return s.answer(unknownType(cmd.Arg(3)))
		}
		listed = resp.EqualFold(cmd.Arg(3), "normal")
	case cmd.Len() > 3 && resp.EqualFold(cmd.Arg(2), "id"):
		listed = false
		ids := cmd.Args(3)
		for arg, ok := ids.Next(); ok; arg, ok = ids.Next() {
			id, ok := resp.ParseInt(arg)
			if !ok {
				return s.answer(resp.Err("ERR Invalid client ID"))
			}
			listed = listed || id == s.Req.session.id
		}
	default:
		return s.answer(resp.Err(errSyntax))
	}
	if !listed {
		return s.answer(resp.Verbatim("txt", nil))
	}
	return s.answer(resp.Verbatim("txt", s.describe("list")))
}

// isClientType reports whether Redis has clients of that type; all clients here are normal ones.
func isClientType(name []byte) bool {
	for _, right := range [...]string{"normal", "master", "replica", "slave", "pubsub"} {
		if resp.EqualFold(name, right) {
			return true
		}
	}
	return false
}

func unknownType(name []byte) resp.Reply {
	return resp.Err(fmt.Sprintf("ERR Unknown client type '%s'", clip(name, len(name))))
}

// clientKill is CLIENT KILL address, or CLIENT KILL with filters; of several filters of one kind
// the last holds. Only the connection that asks is known, and it is skipped unless SKIPME says no.
func (f *front) clientKill(s *command) core.Yield {
	cmd := &s.Req.Command
	if cmd.Len() == 3 {
		return s.answer(resp.Err("ERR No such client"))
	}
	own := s.Req.session.id
	id, addressed, normal, skip := own, false, true, true
	words := cmd.Args(2)
	for filter, ok := words.Next(); ok; filter, ok = words.Next() {
		value, there := words.Next()
		switch {
		case !there:
			return s.answer(resp.Err(errSyntax))
		case resp.EqualFold(filter, "id"):
			if id, ok = resp.ParseInt(value); !ok || id < 1 {
				return s.answer(resp.Err("ERR client-id should be greater than 0"))
			}
		case resp.EqualFold(filter, "type"):
			if !isClientType(value) {
				return s.answer(unknownType(value))
			}
			normal = resp.EqualFold(value, "normal")
		case resp.EqualFold(filter, "addr") || resp.EqualFold(filter, "laddr"):
			addressed = true
		case resp.EqualFold(filter, "user"):
			if string(value) != userName {
				return s.answer(resp.Err(fmt.Sprintf("ERR No such user '%s'", clip(value, len(value)))))
			}
		case resp.EqualFold(filter, "skipme") && resp.EqualFold(value, "yes"):
			skip = true
		case resp.EqualFold(filter, "skipme") && resp.EqualFold(value, "no"):
			skip = false
		default:
			return s.answer(resp.Err(errSyntax))
		}
	}
	if id != own || addressed || !normal || skip {
		return s.answer(resp.Int(0))
	}
	return s.ReturnLast(resp.Int(1))
}

func (f *front) clientNoEvict(s *command) core.Yield {
	switch mode := s.Req.Arg(2); {
	case resp.EqualFold(mode, "on"):
		s.Req.session.noEvict = true
	case resp.EqualFold(mode, "off"):
		s.Req.session.noEvict = false
	default:
		return s.answer(resp.Err(errSyntax))
	}
	return s.answer(resp.OK())
}

// clientReply is CLIENT REPLY ON | OFF | SKIP.
func (f *front) clientReply(s *command) core.Yield {
	c := s.Req.session
	switch mode := s.Req.Arg(2); {
	case resp.EqualFold(mode, "on"):
		c.mute, s.mute = false, false
		return s.answer(resp.OK())
	case resp.EqualFold(mode, "off"):
		c.mute, s.mute = true, true
	case resp.EqualFold(mode, "skip"):
		c.skip, s.mute = !c.mute, true
	default:
		return s.answer(resp.Err(errSyntax))
	}
	return s.answer(resp.OK())
}

// help answers lines of text.
func help(lines ...string) func(f *front, s *command) core.Yield {
	return func(f *front, s *command) core.Yield {
		size := frameMax
		for _, line := range lines {
			size += frameMax + len(line)
		}
		out := resp.AppendArray(s.Bytes(size)[:0], len(lines))
		for _, line := range lines {
			out = resp.AppendSimple(out, line)
		}
		return s.answer(resp.Raw(out))
	}
}
