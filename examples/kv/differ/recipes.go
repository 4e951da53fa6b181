package main

import "strconv"

// recipes is what is sent, with how often.
func recipes() []recipe {
	key := func(g *generator) []string { return []string{g.key()} }
	value := func(g *generator) []string { return []string{g.key(), g.value()} }
	integer := func(g *generator) []string { return []string{g.key(), g.integer()} }
	hash := func(g *generator) []string { return []string{g.hash()} }
	anyKey := func(g *generator) []string { return []string{one(&g.dice, g.key(), g.hash())} }
	none := func(g *generator) []string { return nil }
	maybe := func(percent int, words ...string) func(g *generator) []string {
		return func(g *generator) []string {
			if g.in(percent) {
				return []string{g.anyCase(one(&g.dice, words...))}
			}
			return nil
		}
	}
	return []recipe{
		{"PING", 3, func(g *generator) []string { return one(&g.dice, nil, []string{g.value()}) }},
		{"ECHO", 3, func(g *generator) []string { return []string{g.value()} }},

		{"GET", 20, key},
		{"SET", 30, func(g *generator) []string { return append(value(g), g.setOptions()...) }},
		{"SETNX", 6, value},
		{"SETEX", 4, func(g *generator) []string { return []string{g.key(), g.seconds(), g.value()} }},
		{"PSETEX", 4, func(g *generator) []string { return []string{g.key(), g.millis(), g.value()} }},
		{"GETSET", 4, value},
		{"GETDEL", 4, key},
		{"GETEX", 8, func(g *generator) []string { return append(key(g), g.getexOptions()...) }},
		{"APPEND", 8, value},
		{"STRLEN", 5, key},
		{"INCR", 6, key},
		{"DECR", 6, key},
		{"INCRBY", 8, integer},
		{"DECRBY", 8, integer},
		{"INCRBYFLOAT", 8, func(g *generator) []string { return []string{g.key(), g.float()} }},
		{"SETRANGE", 6, func(g *generator) []string { return []string{g.key(), g.offset(), g.value()} }},
		{"GETRANGE", 6, func(g *generator) []string { return []string{g.key(), g.integer(), g.integer()} }},
		{"SUBSTR", 1, func(g *generator) []string { return []string{g.key(), g.integer(), g.integer()} }},
		{"MGET", 5, several(1, 6, anyKey)},
		{"MSET", 5, several(1, 5, value)},
		{"MSETNX", 4, several(1, 3, value)},

		{"DEL", 8, several(1, 3, anyKey)},
		{"UNLINK", 4, several(1, 3, anyKey)},
		{"EXISTS", 5, several(1, 4, anyKey)},
		{"TOUCH", 3, several(1, 4, anyKey)},
		{"TYPE", 5, anyKey},
		{"EXPIRE", 6, expire((*dice).seconds)},
		{"PEXPIRE", 6, expire((*dice).millis)},
		{"EXPIREAT", 6, expire((*dice).second)},
		{"PEXPIREAT", 6, expire((*dice).milli)},
		{"PERSIST", 5, anyKey},
		{"TTL", 8, anyKey},
		{"PTTL", 6, anyKey},
		{"EXPIRETIME", 3, anyKey},
		{"PEXPIRETIME", 3, anyKey},
		{"RENAME", 6, several(2, 2, anyKey)},
		{"RENAMENX", 4, several(2, 2, anyKey)},
		{"KEYS", 3, func(g *generator) []string { return []string{g.glob()} }},
		{"SCAN", 2, (*generator).scan},
		{"RANDOMKEY", 2, none},
		{"DBSIZE", 3, none},
		{"FLUSHALL", 0.1, maybe(30, "SYNC", "ASYNC", "NOW")},
		{"FLUSHDB", 0.05, maybe(30, "SYNC", "ASYNC", "NOW")},

		{"HSET", 25, (*generator).hset},
		{"HMSET", 3, (*generator).hset},
		{"HSETNX", 8, (*generator).hsetnx},
		{"HGET", 10, fields(1, 1)},
		{"HDEL", 8, fields(1, 3)},
		{"HGETALL", 3, hash},
		{"HKEYS", 2, hash},
		{"HVALS", 2, hash},
		{"HINCRBY", 8, func(g *generator) []string { return append(fields(1, 1)(g), g.integer()) }},
		{"HINCRBYFLOAT", 4, func(g *generator) []string { return append(fields(1, 1)(g), g.float()) }},
		{"HSCAN", 2, func(g *generator) []string { return append(hash(g), g.scan()...) }},
		{"HRANDFIELD", 2, (*generator).hrandfield},
		{"HLEN", 4, hash},
		{"HMGET", 5, fields(1, 4)},
		{"HEXISTS", 4, fields(1, 1)},
		{"HSTRLEN", 4, fields(1, 1)},

		{"OBJECT", 5, (*generator).object},
		{"MEMORY", 2, (*generator).memory},
		{"CLIENT", 3, (*generator).client},
		{"HELLO", 2, (*generator).hello},
		{"AUTH", 1, (*generator).login},
		{"RESET", 1, none},
		{"SELECT", 1, func(g *generator) []string { return []string{one(&g.dice, "0", "0", "1", "16", "-1", g.integer())} }},
		{"CONFIG", 1, (*generator).config},
		{"INFO", 0.5, maybe(60, "server", "clients", "everything", "nonsense")},
		{"COMMAND", 0.5, (*generator).command},
		{unknown, 2, several(0, 4, func(g *generator) []string { return []string{g.value()} })},
	}
}

// offset is where SETRANGE writes: near, or beyond what Redis takes.
func (g *generator) offset() string {
	if g.in(20) {
		return one(&g.dice, "-1", "536870912", "9223372036854775807", "abc", "", "1.5")
	}
	return strconv.Itoa(g.IntN(100))
}

// scan begins at 0, so that it can be followed to its end, or with what is no cursor.
func (g *generator) scan() []string {
	args := []string{"0"}
	if g.in(10) {
		args[0] = one(&g.dice, "abc", "", " 1", "1x", "99999999999999999999999")
	}
	var options [][]string
	if g.in(40) {
		options = append(options, []string{"MATCH", g.glob()})
	}
	if g.in(40) {
		options = append(options, []string{"COUNT", one(&g.dice, "1", "2", "10", "1000", "0", "-1", "abc")})
	}
	if g.in(30) {
		options = append(options, []string{"TYPE", g.anyCase(one(&g.dice, "string", "hash", "list", "nothing", ""))})
	}
	return append(args, g.mix(options)...)
}

// hrandfield asks for few fields: Redis gives as many as it is asked for.
func (g *generator) hrandfield() []string {
	args := []string{g.hash()}
	if g.in(70) {
		args = append(args, one(&g.dice, "0", "1", "3", "1000", "-1", "-7", "abc", "", "9223372036854775808"))
	}
	if g.in(40) {
		args = append(args, g.anyCase(one(&g.dice, "WITHVALUES", "WITHVALUES", "WITHVALUES", "NX")))
	}
	return args
}

// config asks for what both have, and for nothing.
func (g *generator) config() []string {
	name := one(&g.dice, "save", "appendonly", "databases", "maxmemory", "hash-max-listpack-entries", "hash-max-listpack-value", "nothing", "")
	return []string{g.anyCase(one(&g.dice, "GET", "GET", "GET", "FOO")), name}
}

func (g *generator) object() []string {
	sub := one(&g.dice, "ENCODING", "ENCODING", "ENCODING", "ENCODING", "REFCOUNT", "IDLETIME", "FREQ", "HELP", "FOO")
	if sub == "HELP" {
		return []string{g.anyCase(sub)}
	}
	return []string{g.anyCase(sub), one(&g.dice, g.key(), g.hash())}
}

func (g *generator) memory() []string {
	args := []string{g.anyCase("USAGE"), one(&g.dice, g.key(), g.hash())}
	switch g.IntN(6) {
	case 0:
		args = append(args, g.anyCase("SAMPLES"), one(&g.dice, "0", "5", "-1", "abc"))
	case 1:
		return []string{one(&g.dice, "HELP", "FOO", "")}
	}
	return args
}

func (g *generator) client() []string {
	switch sub := one(&g.dice, "SETNAME", "SETNAME", "GETNAME", "GETNAME", "ID", "INFO", "LIST", "HELP", "NO-EVICT", "FOO"); sub {
	case "SETNAME":
		return []string{g.anyCase(sub), g.name()}
	case "NO-EVICT":
		return []string{g.anyCase(sub), g.anyCase(one(&g.dice, "ON", "OFF", "MAYBE"))}
	default:
		return []string{g.anyCase(sub)}
	}
}

func (g *generator) command() []string {
	return one(&g.dice, []string{"COUNT"}, []string{"COUNT"}, []string{"INFO", "get"}, []string{"DOCS", "get"}, []string{"FOO"})
}
