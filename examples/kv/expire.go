package main

import (
	"fmt"
	"math"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// Deadlines in the table are times of the system's clock, which only goes forward. Clients give
// Unix time, in milliseconds or seconds: here that is the wall clock's time at the start plus the
// time that has passed since.

// unix returns the Unix time, in milliseconds, of the clock's time at.
func (t *store) unix(at int64) int64 { return t.stores.wall + at/int64(time.Millisecond) }

// moment returns the clock's time at a Unix time in milliseconds. It is never 0, which means never.
// A time more than 292 years ahead becomes the last that there is.
func (t *store) moment(ms int64) int64 {
	ms = max(ms, 0) - t.stores.wall
	switch {
	case ms <= 0:
		return -1 // before the process began
	case ms > math.MaxInt64/int64(time.Millisecond):
		return math.MaxInt64
	}
	return ms * int64(time.Millisecond)
}

// after returns the time ms milliseconds, at least 0, after now.
func after(now, ms int64) int64 {
	if ms > (math.MaxInt64-now)/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return now + ms*int64(time.Millisecond)
}

func badTime(s *storeStack) resp.Reply {
	return resp.Err(fmt.Sprintf("ERR invalid expire time in '%s' command", lookup(s.arg(0)).name))
}

// deadline returns when a string expires that an option of SET or GETEX gives a time. It reports
// false if the time makes no sense; then rep is the reply.
func (t *store) deadline(s *storeStack, now int64, o stringOptions) (at int64, rep resp.Reply, ok bool) {
	n, ok := resp.ParseInt(o.time)
	if !ok {
		return 0, resp.Err(errInteger), false
	}
	if o.is&(optEX|optEXAT) != 0 {
		if n <= 0 || n > math.MaxInt64/1000 {
			return 0, badTime(s), false
		}
		n *= 1000
	}
	relative := o.is&(optEX|optPX) != 0
	if n <= 0 || relative && n > math.MaxInt64-t.unix(now) {
		return 0, badTime(s), false
	}
	if relative {
		return after(now, n), resp.Reply{}, true
	}
	return t.moment(n), resp.Reply{}, true
}

func (t *store) expire(s *storeStack) resp.Reply    { return t.expireIn(s, 1000, true) }
func (t *store) pexpire(s *storeStack) resp.Reply   { return t.expireIn(s, 1, true) }
func (t *store) expireAt(s *storeStack) resp.Reply  { return t.expireIn(s, 1000, false) }
func (t *store) pexpireAt(s *storeStack) resp.Reply { return t.expireIn(s, 1, false) }

// condition is one of the options of EXPIRE.
type condition uint8

const (
	ifNone    condition = 1 << iota // NX: only if the key has no deadline
	ifSome                          // XX: only if it has one
	ifLater                         // GT: only to a later one
	ifEarlier                       // LT: only to an earlier one
)

// conditions reads the options of EXPIRE. It reports false if they make no sense; then rep is the
// reply.
func conditions(cmd *resp.Command) (c condition, rep resp.Reply, ok bool) {
	words := cmd.Args(3)
	for arg, ok := words.Next(); ok; arg, ok = words.Next() {
		switch {
		case resp.EqualFold(arg, "nx"):
			c |= ifNone
		case resp.EqualFold(arg, "xx"):
			c |= ifSome
		case resp.EqualFold(arg, "gt"):
			c |= ifLater
		case resp.EqualFold(arg, "lt"):
			c |= ifEarlier
		default:
			return 0, resp.Err(fmt.Sprintf("ERR Unsupported option %s", clip(arg, len(arg)))), false
		}
	}
	switch {
	case c&ifNone != 0 && c != ifNone:
		return 0, resp.Err("ERR NX and XX, GT or LT options at the same time are not compatible"), false
	case c&ifLater != 0 && c&ifEarlier != 0:
		return 0, resp.Err("ERR GT and LT options at the same time are not compatible"), false
	}
	return c, resp.Reply{}, true
}

// holds reports whether the deadline of a key may become when, in Unix ms. old is the present one,
// if expires is true.
func (c condition) holds(old int64, expires bool, when int64) bool {
	switch {
	case c&ifNone != 0 && expires,
		c&ifSome != 0 && !expires,
		c&ifLater != 0 && (!expires || when <= old),
		c&ifEarlier != 0 && expires && when >= old:
		return false
	}
	return true
}

// expireIn is EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT. unit is the argument's, in ms; relative: it
// counts from now.
func (t *store) expireIn(s *storeStack, unit int64, relative bool) resp.Reply {
	cond, rep, ok := conditions(s.cmd)
	if !ok {
		return rep
	}
	n, ok := resp.ParseInt(s.arg(2))
	if !ok {
		return resp.Err(errInteger)
	}
	now, base := core.Now(s), int64(0)
	if relative {
		base = t.unix(now)
	}
	if n > math.MaxInt64/unit || n < math.MinInt64/unit || n*unit > math.MaxInt64-base {
		return badTime(s)
	}
	key, when := s.arg(1), n*unit+base
	if cond != 0 {
		old, ok := t.table.ExpireAt(key, now)
		if ok && !cond.holds(t.unix(old), old != 0, when) {
			return resp.Int(0)
		}
	}
	at := t.moment(when)
	if relative {
		at = after(now, max(n*unit, 0))
	}
	return yes(t.table.Expire(key, at, now))
}

func (t *store) persist(s *storeStack) resp.Reply { return yes(t.table.Persist(s.arg(1), core.Now(s))) }

// ttl and the three below tell when a key expires; -1: never; -2: there is no such key.
func (t *store) ttl(s *storeStack) resp.Reply         { return t.expires(s, 1000, true) }
func (t *store) pttl(s *storeStack) resp.Reply        { return t.expires(s, 1, true) }
func (t *store) expireTime(s *storeStack) resp.Reply  { return t.expires(s, 1000, false) }
func (t *store) pexpireTime(s *storeStack) resp.Reply { return t.expires(s, 1, false) }

func (t *store) expires(s *storeStack, unit int64, relative bool) resp.Reply {
	now := core.Now(s)
	at, ok := t.table.ExpireAt(s.arg(1), now)
	switch {
	case !ok:
		return resp.Int(-2)
	case at == 0:
		return resp.Int(-1)
	}
	ms := t.unix(at)
	if relative {
		ms -= t.unix(now)
	}
	return resp.Int((ms + unit/2) / unit)
}
