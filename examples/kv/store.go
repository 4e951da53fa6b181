package main

import (
	"math"
	"strconv"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
	"github.com/stackhouse-go/stackhouse/pool"
)

// store holds the keys of one part of the hash space.
type store struct {
	stores *stores
	index  int
	table  *table.Table
}

func newStore(c *stores, index int) *store {
	return &store{stores: c, index: index, table: table.New(table.Config{Seed: c.seed})}
}

// request is a command for a store: it takes effect on the keys that live there.
type request struct {
	do    func(t *store, s *storeStack) resp.Reply
	cmd   resp.Command
	bytes pool.Bytes // what cmd refers to
}

// Release implements stack.Releaser.
func (r *request) Release() { r.bytes.Release() }

// storeStack is one command at a store.
type storeStack struct {
	core.AskStack[request, resp.Reply]
}

var (
	storeDo    = core.Handle((*store).run)
	storeSweep = core.HandleNotice((*store).sweep)
)

func (t *store) run(s *storeStack) core.Yield { return s.Return(s.Req.do(t, s)) }

// Replies and errors as Redis 7.0 gives them.
const (
	errSyntax  = "ERR syntax error"
	errInteger = "ERR value is not an integer or out of range"
	errFlow    = "ERR increment or decrement would overflow"
	errLarge   = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
)

func (t *store) get(s *storeStack) resp.Reply {
	value, ok := t.table.Get(s.Req.cmd.Arg(1), core.Now(s))
	if !ok {
		return resp.Nil()
	}
	return resp.Bulk(s.Copy(value))
}

func (t *store) strlen(s *storeStack) resp.Reply {
	value, _ := t.table.Get(s.Req.cmd.Arg(1), core.Now(s))
	return resp.Int(int64(len(value)))
}

// set is SET key value [NX | XX] [EX seconds | PX milliseconds].
func (t *store) set(s *storeStack) resp.Reply {
	cmd := &s.Req.cmd
	var flags table.Flags
	var unit time.Duration // of the argument ttl; 0: none
	ttl := 0
	for i := 3; i < cmd.Len(); i++ {
		switch arg := cmd.Arg(i); {
		case resp.EqualFold(arg, "nx") && flags != table.IfPresent:
			flags = table.IfAbsent
		case resp.EqualFold(arg, "xx") && flags != table.IfAbsent:
			flags = table.IfPresent
		case resp.EqualFold(arg, "ex") && unit != time.Millisecond && i+1 < cmd.Len():
			i++
			unit, ttl = time.Second, i
		case resp.EqualFold(arg, "px") && unit != time.Second && i+1 < cmd.Len():
			i++
			unit, ttl = time.Millisecond, i
		default:
			return resp.Err(errSyntax)
		}
	}
	now, at := core.Now(s), int64(0)
	if unit != 0 {
		n, ok := resp.ParseInt(cmd.Arg(ttl))
		if !ok {
			return resp.Err(errInteger)
		}
		if at, ok = deadline(now, n, unit); !ok || n <= 0 {
			return resp.Err("ERR invalid expire time in 'set' command")
		}
	}
	stored, err := t.table.SetFlags(cmd.Arg(1), cmd.Arg(2), at, flags, now)
	switch {
	case err != nil:
		return resp.Err(errLarge)
	case !stored:
		return resp.Nil()
	}
	return resp.OK()
}

// latest is the last deadline that Redis takes, in milliseconds from now: to it the
// time since 1970 is added.
const latest = math.MaxInt64 - 2e12

// deadline returns when n units from now is, in nanoseconds and never 0, which would
// be never; false if Redis couldn't tell. What is 292 years away or more counts as that.
func deadline(now, n int64, unit time.Duration) (int64, bool) {
	ms := int64(unit / time.Millisecond)
	switch {
	case n > latest/ms || n < math.MinInt64/ms:
		return 0, false
	case n <= 0:
		return -1, true // past, however long ago
	case n > (math.MaxInt64-now)/int64(unit):
		return math.MaxInt64, true
	}
	return now + n*int64(unit), true
}

func (t *store) append(s *storeStack) resp.Reply {
	n, err := t.table.Append(s.Req.cmd.Arg(1), s.Req.cmd.Arg(2), core.Now(s))
	if err != nil {
		return resp.Err(errLarge)
	}
	return resp.Int(int64(n))
}

func (t *store) incr(s *storeStack) resp.Reply { return t.add(s, 1) }
func (t *store) decr(s *storeStack) resp.Reply { return t.add(s, -1) }

func (t *store) add(s *storeStack, by int64) resp.Reply {
	key, now := s.Req.cmd.Arg(1), core.Now(s)
	var n int64
	if value, ok := t.table.Get(key, now); ok {
		if n, ok = resp.ParseInt(value); !ok {
			return resp.Err(errInteger)
		}
	}
	if (by > 0 && n > math.MaxInt64-by) || (by < 0 && n < math.MinInt64-by) {
		return resp.Err(errFlow)
	}
	var digits [20]byte
	if _, err := t.table.SetFlags(key, strconv.AppendInt(digits[:0], n+by, 10), 0, table.KeepTTL, now); err != nil {
		return resp.Err(errLarge)
	}
	return resp.Int(n + by)
}

func (t *store) expire(s *storeStack) resp.Reply {
	now := core.Now(s)
	n, ok := resp.ParseInt(s.Req.cmd.Arg(2))
	if !ok {
		return resp.Err(errInteger)
	}
	at, ok := deadline(now, n, time.Second)
	if !ok {
		return resp.Err("ERR invalid expire time in 'expire' command")
	}
	return yes(t.table.Expire(s.Req.cmd.Arg(1), at, now))
}

func (t *store) persist(s *storeStack) resp.Reply {
	return yes(t.table.Persist(s.Req.cmd.Arg(1), core.Now(s)))
}

// ttl is in seconds, rounded; -1: never; -2: there is no such key.
func (t *store) ttl(s *storeStack) resp.Reply {
	now := core.Now(s)
	at, ok := t.table.ExpireAt(s.Req.cmd.Arg(1), now)
	switch {
	case !ok:
		return resp.Int(-2)
	case at == 0:
		return resp.Int(-1)
	}
	left := time.Duration(at - now).Milliseconds()
	return resp.Int((left + 500) / 1000)
}

func (t *store) dbsize(*storeStack) resp.Reply { return resp.Int(int64(t.table.Len())) }

func (t *store) flushall(s *storeStack) resp.Reply {
	cmd := &s.Req.cmd
	if cmd.Len() > 2 || (cmd.Len() == 2 && !resp.EqualFold(cmd.Arg(1), "sync") && !resp.EqualFold(cmd.Arg(1), "async")) {
		return resp.Err(errSyntax)
	}
	t.table.Clear()
	return resp.OK()
}

// mine reports whether a key of a command on many keys lives here.
func (t *store) mine(key []byte) bool { return t.stores.of(key) == t.index }

func (t *store) del(s *storeStack) resp.Reply {
	now, n := core.Now(s), int64(0)
	keys := s.Req.cmd.Args(1)
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		if t.mine(key) && t.table.Delete(key, now) {
			n++
		}
	}
	return resp.Int(n)
}

func (t *store) exists(s *storeStack) resp.Reply {
	now, n := core.Now(s), int64(0)
	keys := s.Req.cmd.Args(1)
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		if t.mine(key) && t.table.Exists(key, now) {
			n++
		}
	}
	return resp.Int(n)
}

// replyMax bounds what one MGET, which may name a large value many times, takes
// from each store, in bytes.
const replyMax = 64 << 20

// mget answers the values of the keys that live here, encoded, in order.
func (t *store) mget(s *storeStack) resp.Reply {
	now, size := core.Now(s), 0
	keys := s.Req.cmd.Args(1)
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		if t.mine(key) {
			value, _ := t.table.Get(key, now)
			size += len(value) + frameMax
		}
	}
	if size > replyMax {
		return resp.Err("ERR the values are too large for one reply")
	}
	out := s.Bytes(size)[:0]
	keys = s.Req.cmd.Args(1)
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		if !t.mine(key) {
			continue
		}
		if value, found := t.table.Get(key, now); found {
			out = resp.AppendBulk(out, value)
		} else {
			out = resp.AppendNil(out)
		}
	}
	return resp.Raw(out)
}

func (t *store) mset(s *storeStack) resp.Reply {
	words := s.Req.cmd.Args(1)
	for key, ok := words.Next(); ok; key, ok = words.Next() {
		value, _ := words.Next()
		if t.mine(key) && t.table.Set(key, value, 0) != nil {
			return resp.Err(errLarge)
		}
	}
	return resp.OK()
}

// yes is 1 for true.
func yes(b bool) resp.Reply {
	if b {
		return resp.Int(1)
	}
	return resp.Int(0)
}
