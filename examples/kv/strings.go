package main

import (
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
)

// read returns the string that a key holds, valid until the table changes. If the key holds a hash
// or nothing ok is false, and rep is the reply of a command that needs a string.
func (t *store) read(s *storeStack) (value []byte, rep resp.Reply, ok bool) {
	value, kind, ok := t.table.Look(s.arg(1), core.Now(s))
	if ok && kind.IsHash() {
		return nil, resp.Err(errKind), false
	}
	return value, resp.Nil(), ok
}

func (t *store) get(s *storeStack) resp.Reply {
	value, rep, ok := t.read(s)
	if !ok {
		return rep
	}
	return resp.Bulk(s.show(value))
}

// take is get for commands that then change the key.
func (t *store) take(s *storeStack) resp.Reply {
	value, rep, ok := t.read(s)
	if !ok {
		return rep
	}
	return resp.Bulk(s.Copy(value))
}

func (t *store) strlen(s *storeStack) resp.Reply {
	value, rep, _ := t.read(s)
	if rep.Kind == resp.KindError {
		return rep
	}
	return resp.Int(int64(len(value)))
}

// set is SET key value [NX | XX] [GET] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL].
func (t *store) set(s *storeStack) resp.Reply {
	o, ok := parseOptions(s.cmd, 3, ofSet)
	if !ok {
		return resp.Err(errSyntax)
	}
	now, at := core.Now(s), int64(0)
	if o.timed() {
		var rep resp.Reply
		if at, rep, ok = t.deadline(s, now, o); !ok {
			return rep
		}
	}
	var old resp.Reply
	if o.is&optGet != 0 {
		if old = t.take(s); old.Kind == resp.KindError {
			return old
		}
	}
	stored, err := t.table.SetFlags(s.arg(1), s.arg(2), at, o.flags(), now)
	switch {
	case err != nil:
		return refused(err)
	case o.is&optGet != 0:
		return old
	case !stored:
		return resp.Nil()
	}
	return resp.OK()
}

func (t *store) setEx(s *storeStack) resp.Reply  { return t.setFor(s, optEX) }
func (t *store) psetEx(s *storeStack) resp.Reply { return t.setFor(s, optPX) }

// setFor is SETEX key time value.
func (t *store) setFor(s *storeStack, unit option) resp.Reply {
	now := core.Now(s)
	at, rep, ok := t.deadline(s, now, stringOptions{is: unit, time: s.arg(2)})
	if !ok {
		return rep
	}
	return stored(t.table.Set(s.arg(1), s.arg(3), at))
}

// stored is the reply of a command that sets a string.
func stored(err error) resp.Reply {
	if err != nil {
		return refused(err)
	}
	return resp.OK()
}

func (t *store) setNX(s *storeStack) resp.Reply {
	set, err := t.table.SetFlags(s.arg(1), s.arg(2), 0, table.IfAbsent, core.Now(s))
	if err != nil {
		return refused(err)
	}
	return yes(set)
}

func (t *store) getSet(s *storeStack) resp.Reply {
	old := t.take(s)
	if old.Kind == resp.KindError {
		return old
	}
	if err := t.table.Set(s.arg(1), s.arg(2), 0); err != nil {
		return refused(err)
	}
	return old
}

func (t *store) getDel(s *storeStack) resp.Reply {
	old := t.take(s)
	if old.Kind == resp.KindBulk {
		t.table.Delete(s.arg(1), core.Now(s))
	}
	return old
}

// getEx is GETEX key [EX s | PX ms | EXAT s | PXAT ms | PERSIST].
func (t *store) getEx(s *storeStack) resp.Reply {
	o, ok := parseOptions(s.cmd, 2, ofGetEx)
	if !ok {
		return resp.Err(errSyntax)
	}
	value := t.take(s)
	if value.Kind != resp.KindBulk {
		return value
	}
	now := core.Now(s)
	if o.timed() {
		at, rep, ok := t.deadline(s, now, o)
		if !ok {
			return rep
		}
		t.table.Expire(s.arg(1), at, now)
	} else if o.is&optPersist != 0 {
		t.table.Persist(s.arg(1), now)
	}
	return value
}

func (t *store) append(s *storeStack) resp.Reply {
	key, now := s.arg(1), core.Now(s)
	n, err := t.table.Append(key, s.arg(2), now)
	if err != nil {
		return refused(err)
	}
	return resp.Int(int64(n))
}

func (t *store) setRange(s *storeStack) resp.Reply {
	offset, ok := resp.ParseInt(s.arg(2))
	switch {
	case !ok:
		return resp.Err(errInteger)
	case offset < 0:
		return resp.Err("ERR offset is out of range")
	}
	n, err := t.table.SetRange(s.arg(1), int(offset), s.arg(3), core.Now(s))
	if err != nil {
		return refused(err)
	}
	return resp.Int(int64(n))
}

// getRange counts from the end if an index is below 0, and answers the part of the range that
// exists.
func (t *store) getRange(s *storeStack) resp.Reply {
	from, ok := resp.ParseInt(s.arg(2))
	to, okTo := resp.ParseInt(s.arg(3))
	if !ok || !okTo {
		return resp.Err(errInteger)
	}
	value, rep, _ := t.read(s)
	if rep.Kind == resp.KindError {
		return rep
	}
	n := int64(len(value))
	if from < 0 && to < 0 && from > to {
		return resp.Bulk(nil)
	}
	if from < 0 {
		from = max(from+n, 0)
	}
	if to < 0 {
		to = max(to+n, 0)
	}
	if to = min(to, n-1); from > to {
		return resp.Bulk(nil)
	}
	return resp.Bulk(s.show(value[from : to+1]))
}

// replyMax bounds what one MGET, which may name a large value many times, takes
// from each store, in bytes; and what KEYS does.
const replyMax = 64 << 20

const errReply = "ERR the values are too large for one reply"

// mget answers the values of the keys that live here, encoded, in order.
func (t *store) mget(s *storeStack) resp.Reply {
	now, size := core.Now(s), 0
	keys := s.cmd.Args(1)
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		if t.mine(key) {
			value, _ := t.table.Get(key, now)
			size += len(value) + frameMax
		}
	}
	if size > replyMax {
		return resp.Err(errReply)
	}
	out := s.Bytes(size)[:0]
	keys = s.cmd.Args(1)
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		if !t.mine(key) {
			continue
		}
		if value, found := t.table.Get(key, now); found {
			out = resp.AppendBulk(out, value)
		} else {
			out = s.Req.version.AppendNil(out)
		}
	}
	return resp.Raw(out)
}

func (t *store) mset(s *storeStack) resp.Reply {
	words := s.cmd.Args(1)
	for key, ok := words.Next(); ok; key, ok = words.Next() {
		value, _ := words.Next()
		if !t.mine(key) {
			continue
		}
		if err := t.table.Set(key, value, 0); err != nil {
			return refused(err)
		}
	}
	return resp.OK()
}
