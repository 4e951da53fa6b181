package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// rule says how the replies to a command are compared, unless they are equal. Errors
// must be.
type rule int

const (
	exactly  rule = iota
	seconds       // integers at most 1 apart, both positive
	millis        // integers at most 1000 apart, both positive
	anyOrder      // the same elements
	hashed        // elements in any order, if the hash is large: see unordered
	pairs         // pairs in any order, if the hash is large
	sameType      // nothing but the type
	sameSize      // the type, and how many elements
	hello         // the same keys, and the same protocol
)

// rules are by command, or command and subcommand.
var rules = map[string]rule{
	"TTL":             seconds,
	"PTTL":            millis,
	"EXPIRETIME":      seconds,
	"PEXPIRETIME":     millis,
	"KEYS":            anyOrder,
	"HKEYS":           hashed,
	"HVALS":           hashed,
	"HGETALL":         pairs,
	"RANDOMKEY":       sameType,
	"SCAN":            sameType, // from 0 on it is followed to its end
	"HSCAN":           sameType, // so is this
	"HRANDFIELD":      sameSize,
	"INFO":            sameType,
	"COMMAND":         sameType,
	"CLIENT ID":       sameType,
	"CLIENT INFO":     sameType,
	"CLIENT LIST":     sameType,
	"CLIENT HELP":     sameType,
	"OBJECT HELP":     sameType,
	"OBJECT IDLETIME": sameType,
	"MEMORY HELP":     sameType,
	"MEMORY USAGE":    sameType,
	"HELLO":           hello,
}

func (c command) rule() rule {
	name := strings.ToUpper(c[0])
	if r, ok := rules[name]; ok || len(c) == 1 {
		return r
	}
	return rules[name+" "+strings.ToUpper(c[1])]
}

// same reports whether two replies to one command agree. large says that Redis keeps
// the command's hash as a table, in no order.
func same(c command, redis, kv []byte, large bool) bool {
	if bytes.Equal(redis, kv) {
		return true
	}
	var a, b resp.Value
	if !whole(redis, &a) || !whole(kv, &b) || a.IsError() || b.IsError() {
		return false
	}
	if a.Kind != b.Kind {
		return false
	}
	switch c.rule() {
	case seconds:
		return near(a, b, 1) || min(a.Int, b.Int) > farthest
	case millis:
		return near(a, b, 1000) || min(a.Int, b.Int) > farthest*1000
	case anyOrder:
		return slices.Equal(elements(a, 1), elements(b, 1))
	case hashed:
		return large && slices.Equal(elements(a, 1), elements(b, 1))
	case pairs:
		return large && slices.Equal(elements(a, 2), elements(b, 2))
	case sameType:
		return true
	case sameSize:
		return a.Int == b.Int
	case hello:
		return sameHello(a, b)
	}
	return false
}

// farthest is 2^63 ns in seconds, less a day for how long kv may run: kv doesn't tell
// times behind that apart.
const farthest = math.MaxInt64/1_000_000_000 - 86_400

func whole(reply []byte, v *resp.Value) bool {
	n, err := resp.DecodeReply(reply, v, resp.Limits{})
	return n == len(reply) && err == nil
}

func near(a, b resp.Value, apart int64) bool {
	return a.Kind == resp.KindInt && a.Int > 0 && b.Int > 0 && max(a.Int-b.Int, b.Int-a.Int) <= apart
}

// elements returns what an array or a map holds, sorted, in groups of so many.
func elements(v resp.Value, group int) (all []string) {
	elems := v.Elems()
	for {
		var joined strings.Builder
		for range group {
			elem, ok := elems.Next()
			if !ok {
				slices.Sort(all)
				return all
			}
			if elem.Kind != resp.KindBulk {
				fmt.Fprintf(&joined, "kind %d, %d, ", elem.Kind, elem.Int)
			}
			fmt.Fprintf(&joined, "%q ", elem.Str)
		}
		all = append(all, joined.String())
	}
}

// sameHello compares the keys of two answers to HELLO, and the value of proto. Other
// values are a server's own.
func sameHello(a, b resp.Value) bool {
	left, right := a.Elems(), b.Elems()
	for a.Int == b.Int {
		key, more := left.Next()
		twin, _ := right.Next()
		if !more {
			return true
		}
		value, _ := left.Next()
		other, _ := right.Next()
		if string(key.Str) != string(twin.Str) || value.Kind != other.Kind {
			return false
		}
		if string(key.Str) == "proto" && value.Int != other.Int {
			return false
		}
	}
	return false
}
