package main

import (
	"bytes"
	"math"
	"strconv"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
)

const errCursor = "ERR invalid cursor"

// scratchMax is what a store keeps of its scratch between commands, in bytes.
const scratchMax = 1 << 20

// keep makes out the scratch of later commands, unless it is large. It stays valid
// until the end of this one.
func (t *store) keep(out []byte) {
	if t.scratch = out; cap(out) > scratchMax {
		t.scratch = nil
	}
}

// keys answers the keys that live here, encoded, and their number: see concat.
func (t *store) keys(s *storeStack) resp.Reply {
	now, pattern := core.Now(s), s.arg(1)
	out, n := t.scratch[:0], 0
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		cursor = t.table.Scan(cursor, 1000, now, func(key, _ []byte, _ table.Kind) {
			if matches(pattern, key) {
				out = resp.AppendBulk(out, key)
				n++
			}
		})
		if len(out) > replyMax {
			return resp.Err(errReply)
		}
	}
	t.keep(out)
	rep := resp.Raw(s.Copy(out))
	rep.Int = int64(n)
	return rep
}

// scan is SCAN cursor [MATCH pattern] [COUNT n] [TYPE type]. A cursor is that of a
// store's table and, in it, the store's number.
func (f *front) scan(s *command) core.Yield {
	cursor, ok := parseCursor(s.Req.Arg(1))
	if !ok {
		return s.answer(resp.Err(errCursor))
	}
	f.stores.ports[cursor%uint64(f.stores.len())].Ask(s, &s.reply, f.request(s, (*store).scan))
	return core.Suspend(s, (*front).answered)
}

// scan is one page of SCAN, from this store.
func (t *store) scan(s *storeStack) resp.Reply {
	o, rep, ok := parseScan(s.cmd, 2, true)
	if !ok {
		return rep
	}
	cursor, _ := parseCursor(s.arg(1))
	stores := uint64(t.stores.len())
	out, n := t.scratch[:0], 0
	cursor = t.table.Scan(cursor/stores, o.count, core.Now(s), func(key, _ []byte, kind table.Kind) {
		if (o.kind == nil || resp.EqualFold(o.kind, typeName(kind))) && o.matches(key) {
			out = resp.AppendBulk(out, key)
			n++
		}
	})
	t.keep(out)
	switch index := uint64(t.index); {
	case cursor != 0:
		cursor = cursor*stores + index
	case index+1 < stores:
		cursor = index + 1 // the start of the next
	}
	return t.page(s, cursor, n, out)
}

// page is the reply to SCAN and HSCAN: n elements, which are encoded, and the cursor.
func (t *store) page(s *storeStack, cursor uint64, n int, elements []byte) resp.Reply {
	var digits [20]byte
	out := resp.AppendArray(s.Bytes(2*frameMax + len(elements))[:0], 2)
	out = resp.AppendBulk(out, strconv.AppendUint(digits[:0], cursor, 10))
	out = resp.AppendArray(out, n)
	return resp.Raw(append(out, elements...))
}

// parseCursor reads a cursor as C's strtoul does: -1 is a number too, and a zero byte is
// the end.
func parseCursor(b []byte) (n uint64, ok bool) {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	if len(b) > 1 && (b[0] == '-' || b[0] == '+') {
		n, ok = parseCursor(b[1:])
		if b[0] == '-' {
			n = -n
		}
		return n, ok && b[1]-'0' <= 9
	}
	for _, c := range b {
		c -= '0'
		if c > 9 || n > math.MaxUint64/10 || n == math.MaxUint64/10 && c > math.MaxUint64%10 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	return n, true
}

// scanOptions are those of SCAN and HSCAN.
type scanOptions struct {
	count   int
	pattern []byte // nil: any
	kind    []byte // nil: any
}

const (
	countDefault = 10
	countMax     = 1 << 20
)

// parseScan reads the options from argument i on.
func parseScan(cmd *resp.Command, i int, kinds bool) (o scanOptions, rep resp.Reply, ok bool) {
	o.count = countDefault
	for ; i < cmd.Len(); i += 2 {
		if i+1 == cmd.Len() {
			return o, resp.Err(errSyntax), false
		}
		switch arg, value := cmd.Arg(i), cmd.Arg(i+1); {
		case resp.EqualFold(arg, "count"):
			n, ok := resp.ParseInt(value)
			switch {
			case !ok:
				return o, resp.Err(errInteger), false
			case n < 1:
				return o, resp.Err(errSyntax), false
			}
			o.count = int(min(n, countMax))
		case resp.EqualFold(arg, "match"):
			o.pattern = value
		case resp.EqualFold(arg, "type") && kinds:
			o.kind = value
		default:
			return o, resp.Err(errSyntax), false
		}
	}
	return o, resp.Reply{}, true
}

func (o *scanOptions) matches(name []byte) bool { return o.pattern == nil || matches(o.pattern, name) }
