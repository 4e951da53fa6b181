package main

import (
	"bytes"
	"math"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

const errCursor = "ERR invalid cursor"

// scratchMax is how long a scratch a store keeps between commands, in bytes.
const scratchMax = 1 << 20

// keep makes out the scratch of later commands, unless it is large. out stays valid until the end
// of this command.
func (t *store) keep(out []byte) {
	if t.scratch = out; cap(out) > scratchMax {
		t.scratch = nil
	}
}

// parseCursor reads a cursor as C's strtoul does: -1 is a number too, and a NUL is the end.
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

// scanOptions are the options of SCAN and HSCAN.
type scanOptions struct {
	count   int
	pattern []byte // nil: any
	kind    []byte // nil: any
}

const (
	countDefault = 10
	countMax     = 1 << 20
)

// parseScan reads the options from argument i on; kinds: TYPE is one of them. It reports false if
// they make no sense; then rep is the reply.
func parseScan(cmd *resp.Command, i int, kinds bool) (o scanOptions, rep resp.Reply, ok bool) {
	o.count = countDefault
	words := cmd.Args(i)
	for arg, ok := words.Next(); ok; arg, ok = words.Next() {
		value, there := words.Next()
		switch {
		case !there:
			return o, resp.Err(errSyntax), false
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
