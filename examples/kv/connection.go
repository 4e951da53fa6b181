package main

import (
	"fmt"
	"math"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// Commands about the connection itself.

func (f *front) ping(s *command) core.Yield {
	switch s.Req.Len() {
	case 1:
		return s.answer(resp.Pong())
	case 2:
		return s.answer(resp.Bulk(s.Req.Arg(1)))
	}
	return s.answer(arity(lookup(s.Req.Arg(0))))
}

func (f *front) echo(s *command) core.Yield { return s.answer(resp.Bulk(s.Req.Arg(1))) }

func (f *front) quit(s *command) core.Yield { return s.ReturnLast(resp.OK()) }

func (f *front) selectDB(s *command) core.Yield {
	n, ok := resp.ParseInt(s.Req.Arg(1))
	switch {
	case !ok:
		return s.answer(resp.Err(errInteger))
	case n < math.MinInt32 || n > math.MaxInt32:
		return s.answer(resp.Err("ERR value is out of range, value must between -2147483648 and 2147483647"))
	case n != 0:
		return s.answer(resp.Err("ERR DB index is out of range"))
	}
	return s.answer(resp.OK())
}

func (f *front) auth(s *command) core.Yield {
	if s.Req.Len() > 3 {
		return s.answer(resp.Err(errSyntax))
	}
	rep := f.service.secret.auth(s.Req.Args(1))
	if rep.Kind != resp.KindError {
		s.Req.session.authenticated = true
	}
	return s.answer(rep)
}

// reset makes the connection what it was when it began.
func (f *front) reset(s *command) core.Yield {
	c := s.Req.session
	c.version, c.name, c.mute, c.noEvict = resp.V2, "", false, false
	c.authenticated = !f.service.secret.needed()
	s.version, s.mute = resp.V2, false
	return s.answer(resp.Simple("RESET"))
}

// hello is HELLO [version [AUTH user password] [SETNAME name]]. An option takes
// effect even if there is nonsense behind it.
func (f *front) hello(s *command) core.Yield {
	c, cmd := s.Req.session, &s.Req.Command
	version := c.version
	if cmd.Len() > 1 {
		n, ok := resp.ParseInt(cmd.Arg(1))
		switch {
		case !ok:
			return s.answer(resp.Err("ERR Protocol version is not an integer or out of range"))
		case n < 2 || n > 3:
			return s.answer(resp.Err("NOPROTO unsupported protocol version"))
		}
		version = resp.Version(n)
	}
	words := cmd.Args(2)
	for arg, ok := words.Next(); ok; arg, ok = words.Next() {
		switch {
		case resp.EqualFold(arg, "auth") && words.Len() >= 2:
			user, _ := words.Next()
			password, _ := words.Next()
			if !f.service.secret.admits(user, password) {
				return s.answer(resp.Err(errWrongPass))
			}
			c.authenticated = true
		case resp.EqualFold(arg, "setname") && words.Len() >= 1:
			name, _ := words.Next()
			if !validName(name) {
				return s.answer(resp.Err(errName))
			}
			c.name = string(name)
		default:
			return s.answer(resp.Err(fmt.Sprintf("ERR Syntax error in HELLO option '%s'", clip(arg, len(arg)))))
		}
	}
	if !c.authenticated {
		return s.answer(resp.Err("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> " +
			"option can be used to authenticate the client and select the RESP protocol version at the same time"))
	}
	c.version, s.version = version, version
	return s.answer(welcome(s))
}

// welcome is the reply to HELLO.
func welcome(s *command) resp.Reply {
	out := s.version.AppendMap(s.Bytes(256)[:0], 7)
	out = resp.AppendBulkString(resp.AppendBulkString(out, "server"), "redis")
	out = resp.AppendBulkString(resp.AppendBulkString(out, "version"), redisVersion)
	out = resp.AppendInt(resp.AppendBulkString(out, "proto"), int64(max(s.version, resp.V2)))
	out = resp.AppendInt(resp.AppendBulkString(out, "id"), s.Req.session.id)
	out = resp.AppendBulkString(resp.AppendBulkString(out, "mode"), "standalone")
	out = resp.AppendBulkString(resp.AppendBulkString(out, "role"), "master")
	out = resp.AppendArray(resp.AppendBulkString(out, "modules"), 0)
	return resp.Raw(out)
}

// redisVersion is the version of Redis whose replies these are.
const redisVersion = "7.0.15"
