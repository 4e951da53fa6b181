package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// The commands that the front answers itself, and how it puts the replies of
// several stores together.

func (f *front) ping(s *command) core.Yield {
	if s.Req.Len() == 2 {
		return s.Return(resp.Bulk(s.Req.Arg(1)))
	}
	return s.Return(resp.Pong())
}

func (f *front) echo(s *command) core.Yield { return s.Return(resp.Bulk(s.Req.Arg(1))) }

func (f *front) quit(s *command) core.Yield { return s.ReturnLast(resp.OK()) }

func (f *front) selectDB(s *command) core.Yield {
	n, ok := resp.ParseInt(s.Req.Arg(1))
	switch {
	case !ok:
		return s.Return(resp.Err(errInteger))
	case n != 0:
		return s.Return(resp.Err("ERR DB index is out of range"))
	}
	return s.Return(resp.OK())
}

// config answers what clients ask on connecting; nothing can be set.
func (f *front) config(s *command) core.Yield {
	sub := s.Req.Arg(1)
	switch {
	case resp.EqualFold(sub, "get") && s.Req.Len() >= 3:
		name := s.Req.Arg(2)
		out := s.Bytes(64)[:0]
		if s.Req.Len() == 3 && (resp.EqualFold(name, "save") || resp.EqualFold(name, "appendonly")) {
			value := ""
			if resp.EqualFold(name, "appendonly") {
				value = "no"
			}
			out = resp.AppendArray(out, 2)
			out = resp.AppendBulk(out, name)
			return s.Return(resp.Raw(resp.AppendBulkString(out, value)))
		}
		return s.Return(resp.Raw(resp.AppendArray(out, 0)))
	case resp.EqualFold(sub, "resetstat") && s.Req.Len() == 2:
		return s.Return(resp.OK())
	}
	if resp.EqualFold(sub, "get") || resp.EqualFold(sub, "resetstat") {
		return s.Return(resp.Err(fmt.Sprintf("ERR wrong number of arguments for 'config|%s' command", bytes.ToLower(sub))))
	}
	return s.Return(resp.Err(fmt.Sprintf("ERR unknown subcommand '%s'. Try CONFIG HELP.", clip(sub))))
}

// command tells what there is: all, how many, or nothing in detail.
func (f *front) command(s *command) core.Yield {
	switch {
	case s.Req.Len() == 1:
		out := s.Bytes(len(commands) * 64)[:0]
		out = resp.AppendArray(out, len(commands))
		for i := range commands {
			e := &commands[i]
			out = resp.AppendArray(out, 6)
			out = resp.AppendBulkString(out, e.name)
			out = resp.AppendInt(out, e.arity())
			out = resp.AppendArray(out, 0)
			for range 3 { // first key, last key, step: not told
				out = resp.AppendInt(out, 0)
			}
		}
		return s.Return(resp.Raw(out))
	case resp.EqualFold(s.Req.Arg(1), "count"):
		return s.Return(resp.Int(int64(len(commands))))
	}
	return s.Return(resp.Raw(resp.AppendArray(s.Bytes(8)[:0], 0)))
}

// sum adds integers.
func (f *front) sum(s *command) resp.Reply {
	var n int64
	for i := range f.stores.ports {
		rep, _ := s.parts[i].Get() // merged has looked for errors
		n += rep.Int
	}
	return resp.Int(n)
}

// allOK is OK: merged has looked for errors.
func (f *front) allOK(s *command) resp.Reply { return resp.OK() }

// interleave brings the values of all stores into the order of their keys. Each
// store has sent those of its keys, encoded, in order.
func (f *front) interleave(s *command) resp.Reply {
	var rest [storesMax][]byte
	size := 16
	for i := range f.stores.ports {
		rep, _ := s.parts[i].Get()
		rest[i] = rep.Str
		size += len(rep.Str)
	}
	out := resp.AppendArray(s.Bytes(size)[:0], s.Req.Len()-1)
	keys := s.Req.Args(1)
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		i := f.stores.of(key)
		n := bulkLen(rest[i])
		out = append(out, rest[i][:n]...)
		rest[i] = rest[i][n:]
	}
	return resp.Raw(out)
}

// bulkLen returns how many bytes the bulk string that b begins with takes; it was
// encoded by mget.
func bulkLen(b []byte) int {
	end := bytes.IndexByte(b, '\n') + 1
	n, _ := resp.ParseInt(b[1 : end-2])
	if n < 0 {
		return end
	}
	return end + int(n) + 2
}

// clip shortens what is quoted in an error.
func clip(b []byte) []byte { return b[:min(len(b), 128)] }

// unknown is Redis' answer to a command that isn't there.
func unknown(s *command) resp.Reply {
	var args strings.Builder
	for i := 1; i < s.Req.Len() && args.Len() < 128; i++ {
		fmt.Fprintf(&args, "'%s' ", s.Req.Arg(i)[:min(len(s.Req.Arg(i)), 128-args.Len())])
	}
	return resp.Err(fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", clip(s.Req.Arg(0)), args.String()))
}

// arity is Redis' answer to too few or too many arguments.
func arity(e *entry) resp.Reply {
	return resp.Err(fmt.Sprintf("ERR wrong number of arguments for '%s' command", e.name))
}
