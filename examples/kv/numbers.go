package main

import (
	"math"
	"strconv"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
)

func (t *store) incr(s *storeStack) resp.Reply { return t.add(s, 1) }
func (t *store) decr(s *storeStack) resp.Reply { return t.add(s, -1) }

func (t *store) incrBy(s *storeStack) resp.Reply {
	by, ok := resp.ParseInt(s.arg(2))
	if !ok {
		return resp.Err(errInteger)
	}
	return t.add(s, by)
}

func (t *store) decrBy(s *storeStack) resp.Reply {
	by, ok := resp.ParseInt(s.arg(2))
	switch {
	case !ok:
		return resp.Err(errInteger)
	case by == math.MinInt64:
		return resp.Err("ERR decrement would overflow")
	}
	return t.add(s, -by)
}

func (t *store) add(s *storeStack, by int64) resp.Reply {
	value, rep, ok := t.read(s)
	if rep.Kind == resp.KindError {
		return rep
	}
	n := int64(0)
	if ok {
		if n, ok = resp.ParseInt(value); !ok {
			return resp.Err(errInteger)
		}
	}
	n, ok = plus(n, by)
	if !ok {
		return resp.Err(errFlow)
	}
	var digits [20]byte
	if _, err := t.table.SetFlags(s.arg(1), strconv.AppendInt(digits[:0], n, 10), 0, table.KeepTTL, core.Now(s)); err != nil {
		return refused(err)
	}
	return resp.Int(n)
}

// plus adds, and reports whether the sum is right.
func plus(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (sum > a) == (b > 0)
}

func (t *store) incrByFloat(s *storeStack) resp.Reply {
	value, rep, ok := t.read(s)
	if rep.Kind == resp.KindError {
		return rep
	}
	if !ok {
		value = zero
	}
	sum, problem := addFloats(t.scratch[:0], value, s.arg(2))
	switch problem {
	case badFirst, badSecond:
		return resp.Err("ERR value is not a valid float")
	case infinite:
		return resp.Err(errInfinite)
	}
	t.scratch = sum
	if _, err := t.table.SetFlags(s.arg(1), sum, 0, table.KeepTTL|table.AsText, core.Now(s)); err != nil {
		return refused(err)
	}
	return resp.Bulk(s.Copy(sum))
}

var zero = []byte("0")

const errInfinite = "ERR increment would produce NaN or Infinity"
