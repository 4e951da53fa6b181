package main

import (
	"math"
	"strconv"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

func (t *store) hget(s *storeStack) resp.Reply {
	value, ok, err := t.table.Field(s.arg(1), s.arg(2), core.Now(s))
	switch {
	case err != nil:
		return refused(err)
	case !ok:
		return resp.Nil()
	}
	return resp.Bulk(s.show(value))
}

func (t *store) hexists(s *storeStack) resp.Reply {
	_, ok, err := t.table.Field(s.arg(1), s.arg(2), core.Now(s))
	if err != nil {
		return refused(err)
	}
	return yes(ok)
}

func (t *store) hstrlen(s *storeStack) resp.Reply {
	value, _, err := t.table.Field(s.arg(1), s.arg(2), core.Now(s))
	if err != nil {
		return refused(err)
	}
	return resp.Int(int64(len(value)))
}

func (t *store) hlen(s *storeStack) resp.Reply {
	n, err := t.table.FieldCount(s.arg(1), core.Now(s))
	if err != nil {
		return refused(err)
	}
	return resp.Int(int64(n))
}

func (t *store) hmget(s *storeStack) resp.Reply {
	key, now, size := s.arg(1), core.Now(s), frameMax
	names := s.cmd.Args(2)
	n := names.Len()
	for name, ok := names.Next(); ok; name, ok = names.Next() {
		value, _, err := t.table.Field(key, name, now)
		if err != nil {
			return refused(err)
		}
		size += len(value) + frameMax
	}
	if size > replyMax {
		return resp.Err(errReply)
	}
	out := resp.AppendArray(s.Bytes(size)[:0], n)
	names = s.cmd.Args(2)
	for name, ok := names.Next(); ok; name, ok = names.Next() {
		if value, found, _ := t.table.Field(key, name, now); found {
			out = resp.AppendBulk(out, value)
		} else {
			out = s.Req.version.AppendNil(out)
		}
	}
	return resp.Raw(out)
}

func (t *store) hgetall(s *storeStack) resp.Reply { return t.list(s, true, true) }
func (t *store) hkeys(s *storeStack) resp.Reply   { return t.list(s, true, false) }
func (t *store) hvals(s *storeStack) resp.Reply   { return t.list(s, false, true) }

// list answers the names of all fields, their values, or both.
func (t *store) list(s *storeStack, names, values bool) resp.Reply {
	all, err := t.table.Fields(s.arg(1), core.Now(s))
	if err != nil {
		return refused(err)
	}
	if _, slots := t.table.FieldSlots(s.arg(1), core.Now(s)); slots > 0 {
		return t.listLarge(s, names, values, all.Len())
	}
	size, n := frameMax, all.Len()
	rest := all
	for name, value, ok := rest.Next(); ok; name, value, ok = rest.Next() {
		size += len(name) + len(value) + 2*frameMax
	}
	out := s.appendListHead(s.Bytes(size)[:0], names && values, n)
	for name, value, ok := all.Next(); ok; name, value, ok = all.Next() {
		if names {
			out = resp.AppendBulk(out, name)
		}
		if values {
			out = resp.AppendBulk(out, value)
		}
	}
	return resp.Raw(out)
}

func (s *storeStack) appendListHead(out []byte, pairs bool, n int) []byte {
	if pairs {
		return s.Req.version.AppendMap(out, n)
	}
	return resp.AppendArray(out, n)
}

// listLarge is list of a large hash of n fields, in the order of a walk: so HKEYS and HVALS answer
// in one order, whether they are walks or not.
func (t *store) listLarge(s *storeStack, names, values bool, n int) resp.Reply {
	out := t.scratch[:0]
	for cursor, more := uint64(0), true; more; more = cursor != 0 {
		cursor, _ = t.table.ScanFields(s.arg(1), cursor, n, core.Now(s), func(name, value []byte) {
			if names {
				out = resp.AppendBulk(out, name)
			}
			if values {
				out = resp.AppendBulk(out, value)
			}
		})
		if len(out) > math.MaxInt32 {
			return resp.Err(errReply)
		}
	}
	t.keep(out)
	return resp.Raw(append(s.appendListHead(s.Bytes(frameMax + len(out))[:0], names && values, n), out...))
}

func (t *store) hset(s *storeStack) resp.Reply  { return t.setFields(s, false) }
func (t *store) hmset(s *storeStack) resp.Reply { return t.setFields(s, true) }

// setFields sets fields and answers how many are new, or OK. As in Redis an odd number of arguments
// is noticed only here.
func (t *store) setFields(s *storeStack, ok bool) resp.Reply {
	if s.cmd.Len()%2 != 0 {
		return arity(lookup(s.arg(0)))
	}
	key, now, n := s.arg(1), core.Now(s), int64(0)
	words := s.cmd.Args(2)
	for words.Len() > 0 {
		name, _ := words.Next()
		value, _ := words.Next()
		added, err := t.table.SetField(key, name, value, now)
		if err != nil {
			return refused(err)
		}
		if added {
			n++
		}
	}
	if ok {
		return resp.OK()
	}
	return resp.Int(n)
}

func (t *store) hsetNX(s *storeStack) resp.Reply {
	key, name, now := s.arg(1), s.arg(2), core.Now(s)
	_, there, err := t.table.Field(key, name, now)
	if err == nil && !there {
		_, err = t.table.SetField(key, name, s.arg(3), now)
	}
	if err != nil {
		return refused(err)
	}
	return yes(!there)
}

func (t *store) hdel(s *storeStack) resp.Reply {
	key, now, n := s.arg(1), core.Now(s), int64(0)
	names := s.cmd.Args(2)
	for name, ok := names.Next(); ok; name, ok = names.Next() {
		deleted, err := t.table.DeleteField(key, name, now)
		if err != nil {
			return refused(err)
		}
		if deleted {
			n++
		}
	}
	return resp.Int(n)
}

func (t *store) hincrBy(s *storeStack) resp.Reply {
	by, ok := resp.ParseInt(s.arg(3))
	if !ok {
		return resp.Err(errInteger)
	}
	key, name, now := s.arg(1), s.arg(2), core.Now(s)
	value, there, err := t.table.Field(key, name, now)
	if err != nil {
		return refused(err)
	}
	n := int64(0)
	if there {
		if n, ok = resp.ParseInt(value); !ok {
			return resp.Err("ERR hash value is not an integer")
		}
	}
	if n, ok = plus(n, by); !ok {
		return resp.Err(errFlow)
	}
	var digits [20]byte
	if _, err = t.table.SetField(key, name, strconv.AppendInt(digits[:0], n, 10), now); err != nil {
		return refused(err)
	}
	return resp.Int(n)
}

func (t *store) hincrByFloat(s *storeStack) resp.Reply {
	by := s.arg(3)
	// as in Redis, before the field is looked up
	switch _, problem := addFloats(t.scratch[:0], by, zero); problem {
	case badFirst:
		return resp.Err("ERR value is not a valid float")
	case infinite:
		return resp.Err("ERR value is NaN or Infinity")
	}
	key, name, now := s.arg(1), s.arg(2), core.Now(s)
	value, there, err := t.table.Field(key, name, now)
	if err != nil {
		return refused(err)
	}
	if !there {
		value = zero
	}
	sum, problem := addFloats(t.scratch[:0], value, by)
	switch problem {
	case badFirst:
		return resp.Err("ERR hash value is not a float")
	case infinite:
		return resp.Err(errInfinite)
	}
	t.scratch = sum
	if _, err = t.table.SetField(key, name, sum, now); err != nil {
		return refused(err)
	}
	return resp.Bulk(s.Copy(sum))
}

// hrandfield is HRANDFIELD key [count [WITHVALUES]]. With a count below 0 fields may be answered
// more than once; with one above they are neighbours, from a random field on.
func (t *store) hrandfield(s *storeStack) resp.Reply {
	key, now := s.arg(1), core.Now(s)
	count, rep, ok := parseRandom(s.cmd)
	if !ok {
		return rep
	}
	single := s.cmd.Len() == 2
	size, err := t.table.FieldCount(key, now)
	switch {
	case err != nil:
		return refused(err)
	case size == 0 && single:
		return resp.Nil()
	case single:
		name, _ := t.table.RandomField(key, t.dice.roll(), now)
		return resp.Bulk(s.Copy(name))
	case size == 0:
		count = 0
	case count >= 0:
		return t.neighbours(s, min(int(count), size), size)
	}
	return t.repeated(s, -count)
}

// parseRandom reads the count of HRANDFIELD. It reports false if it makes no sense; then rep is the
// reply.
func parseRandom(cmd *resp.Command) (count int64, rep resp.Reply, ok bool) {
	if cmd.Len() == 2 {
		return 1, rep, true
	}
	if count, ok = resp.ParseInt(cmd.Arg(2)); !ok {
		return 0, resp.Err(errInteger), false
	}
	switch {
	case count == math.MinInt64:
		rep = resp.Err("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")
	case cmd.Len() > 4 || cmd.Len() == 4 && !resp.EqualFold(cmd.Arg(3), "withvalues"):
		rep = resp.Err(errSyntax)
	case cmd.Len() == 4 && (count < -math.MaxInt64/2 || count > math.MaxInt64/2):
		rep = resp.Err("ERR value is out of range")
	default:
		return count, rep, true
	}
	return 0, rep, false
}

// repeated answers count fields, each chosen at random. A large count is a walk instead.
func (t *store) repeated(s *storeStack, count int64) resp.Reply {
	out := t.scratch[:0]
	for range count {
		name, value := t.table.RandomField(s.arg(1), t.dice.roll(), core.Now(s))
		if out = appendField(out, s.cmd, s.Req.version, name, value); len(out) > replyMax {
			return resp.Err(errReply)
		}
	}
	t.keep(out)
	return resp.Raw(append(appendFieldsHead(s.Bytes(frameMax + len(out))[:0], s.cmd, s.Req.version, int(count)), out...))
}

// neighbours answers count of the size fields of a hash, each once.
func (t *store) neighbours(s *storeStack, count, size int) resp.Reply {
	all, _ := t.table.Fields(s.arg(1), core.Now(s))
	skip := int(t.dice.below(uint64(size)))
	out := t.scratch[:0]
	for i := range size {
		name, value, _ := all.Next()
		if (i-skip+size)%size < count {
			out = appendField(out, s.cmd, s.Req.version, name, value)
		}
	}
	t.keep(out)
	return resp.Raw(append(appendFieldsHead(s.Bytes(frameMax + len(out))[:0], s.cmd, s.Req.version, count), out...))
}

// appendField appends a name, and its value if the command has WITHVALUES.
func appendField(out []byte, cmd *resp.Command, v resp.Version, name, value []byte) []byte {
	switch {
	case cmd.Len() < 4:
		return resp.AppendBulk(out, name)
	case v == resp.V3:
		out = resp.AppendArray(out, 2)
	}
	return resp.AppendBulk(resp.AppendBulk(out, name), value)
}

// appendFieldsHead begins the reply of n fields.
func appendFieldsHead(out []byte, cmd *resp.Command, v resp.Version, n int) []byte {
	if cmd.Len() == 4 && v != resp.V3 {
		n *= 2
	}
	return resp.AppendArray(out, n)
}
