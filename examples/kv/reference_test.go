package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// model is a cache that is too simple to be wrong: one map, one command at a time.
type model struct {
	now  int64 // ns
	keys map[string]entryOf

	// Of the one connection.
	password string
	authed   bool
	v3       bool
	full     bool // the limit of memory is 1 byte
}

type entryOf struct {
	value  string
	fields []fieldOf // of a hash, in order; nil: it is a string
	large  bool      // the order is any
	kept   string    // OBJECT ENCODING of a string that isn't kept as its value says
	at     int64     // when it expires; 0: never
}

type fieldOf struct{ name, value string }

func (e entryOf) field(name string) int {
	return slices.IndexFunc(e.fields, func(f fieldOf) bool { return f.name == name })
}

// with returns the hash with a field set, and whether that is new.
func (e entryOf) with(name, value string) (entryOf, bool) {
	e.fields = slices.Clone(e.fields)
	i := e.field(name)
	if i < 0 {
		e.fields = append(e.fields, fieldOf{name, value})
	} else {
		e.fields[i].value = value
	}
	e.large = e.large || max(len(name), len(value)) > 64 || len(e.fields) > 512
	return e, i < 0
}

// without returns the hash without a field, and whether it was there.
func (e entryOf) without(name string) (entryOf, bool) {
	i := e.field(name)
	if i < 0 {
		return e, false
	}
	e.fields = slices.Delete(slices.Clone(e.fields), i, i+1)
	return e, true
}

// get returns the entry of a key that has not expired.
func (m *model) get(key string) (entryOf, bool) {
	e, ok := m.keys[key]
	if ok && e.at != 0 && e.at <= m.now {
		delete(m.keys, key)
		return entryOf{}, false
	}
	return e, ok
}

// put stores an entry, unless it is a hash without fields or has expired.
func (m *model) put(key string, e entryOf) {
	if e.fields != nil && len(e.fields) == 0 {
		delete(m.keys, key)
		return
	}
	m.keys[key] = e
}

func bulk(s string) string { return flat(fmt.Appendf(nil, "$%d\r\n%s\r\n", len(s), s)) }

func (m *model) null() string {
	if m.v3 {
		return "_"
	}
	return "$-1"
}

func truth(ok bool) string {
	if ok {
		return ":1"
	}
	return ":0"
}

// unix is the Unix time of a moment, in ms.
func unix(at int64) int64 { return virtual().wall + at/1e6 }

// growing are the commands that are refused when memory is used up.
var growing = strings.Fields("APPEND DECR DECRBY GETSET HINCRBY HMSET HSET HSETNX INCR INCRBY MSET MSETNX PSETEX SET SETEX SETNX SETRANGE")

// do returns the reply to a command whose number of arguments is right. The number
// of keys may be smaller by up to slack: keys that expired count until they are found.
// A reply that begins with ? is an array in any order, one with ~ the reply's start.
func (m *model) do(words []string) (reply string, slack int) {
	verb, args := words[0], words[1:]
	switch {
	case verb == "AUTH":
		return m.auth(args[0]), 0
	case verb == "RESET":
		m.authed, m.v3 = m.password == "", false
		return "+RESET", 0
	case m.password != "" && !m.authed && verb == "HELLO":
		return "~-NOAUTH HELLO must be called", 0
	case m.password != "" && !m.authed:
		return "-NOAUTH Authentication required.", 0
	case m.full && slices.Contains(growing, verb):
		return "-OOM command not allowed when used memory > 'maxmemory'.", 0
	}
	switch verb {
	case "HELLO":
		if m.v3 = args[0] == "3"; m.v3 {
			return "~%7 $6 server $5 redis $7 version $6 7.0.15 $5 proto :3", 0
		}
		return "~*14 $6 server $5 redis $7 version $6 7.0.15 $5 proto :2", 0
	case "CONFIG":
		m.full = args[2] == "1"
		return "+OK", 0
	case "PING":
		return "+PONG", 0
	case "DBSIZE":
		for _, e := range m.keys {
			if e.at != 0 && e.at <= m.now {
				slack++
			}
		}
		return fmt.Sprint(":", len(m.keys)), slack
	case "FLUSHALL":
		clear(m.keys)
		return "+OK", 0
	case "DEL", "UNLINK", "EXISTS", "TOUCH":
		n := 0
		for _, key := range args {
			if _, ok := m.get(key); ok {
				n++
			}
			if verb == "DEL" || verb == "UNLINK" {
				delete(m.keys, key)
			}
		}
		return fmt.Sprint(":", n), 0
	case "MSET":
		for i := 0; i < len(args); i += 2 {
			m.keys[args[i]] = entryOf{value: args[i+1]}
		}
		return "+OK", 0
	case "MSETNX":
		for i := 0; i < len(args); i += 2 {
			if _, ok := m.get(args[i]); ok {
				return ":0", 0
			}
		}
		m.do(append([]string{"MSET"}, args...))
		return ":1", 0
	case "MGET":
		reply = fmt.Sprint("*", len(args))
		for _, key := range args {
			one := m.null()
			if e, ok := m.get(key); ok && e.fields == nil {
				one = bulk(e.value)
			}
			reply += " " + one
		}
		return reply, 0
	case "RENAME", "RENAMENX":
		return m.rename(verb, args[0], args[1]), 0
	}
	if reply, ok := m.doKey(verb, args); ok {
		return reply, 0
	}
	if strings.HasPrefix(verb, "H") {
		return m.doHash(verb, args), 0
	}
	return m.doString(verb, args), 0
}

func (m *model) auth(password string) string {
	switch {
	case m.password == "":
		return "-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
	case m.password != password:
		return "-WRONGPASS invalid username-password pair or user is disabled."
	}
	m.authed = true
	return "+OK"
}

func (m *model) rename(verb, from, to string) string {
	e, ok := m.get(from)
	if !ok {
		return "-ERR no such key"
	}
	_, there := m.get(to)
	if verb == "RENAMENX" && there {
		return ":0"
	}
	delete(m.keys, from)
	m.keys[to] = e
	if verb == "RENAMENX" {
		return ":1"
	}
	return "+OK"
}

// doKey is do for commands on one key, whatever it holds.
func (m *model) doKey(verb string, args []string) (reply string, ok bool) {
	e, there := m.get(args[0])
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(args[i], 10, 64)
		return n
	}
	switch verb {
	case "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT":
		unit := int64(1)
		if !strings.HasPrefix(verb, "P") {
			unit = 1000
		}
		n := number(1) * unit
		if strings.HasSuffix(verb, "AT") {
			n -= unix(m.now) // the commands' times are whole ms from now
		}
		when := m.now + n*1e6
		if !there || len(args) > 2 && !allowed(args[2], e.at, when) {
			return ":0", true
		}
		if e.at = when; n <= 0 {
			delete(m.keys, args[0])
		} else {
			m.keys[args[0]] = e
		}
		return ":1", true
	case "PERSIST":
		if !there || e.at == 0 {
			return ":0", true
		}
		e.at = 0
		m.keys[args[0]] = e
		return ":1", true
	case "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME":
		switch {
		case !there:
			return ":-2", true
		case e.at == 0:
			return ":-1", true
		}
		ms := unix(e.at)
		if strings.HasSuffix(verb, "TTL") {
			ms -= unix(m.now)
		}
		if !strings.HasPrefix(verb, "P") {
			ms = (ms + 500) / 1000
		}
		return fmt.Sprint(":", ms), true
	case "TYPE":
		switch {
		case !there:
			return "+none", true
		case e.fields != nil:
			return "+hash", true
		}
		return "+string", true
	case "OBJECT": // args[0] is the subcommand
		e, there := m.get(args[1])
		if !there {
			return m.null(), true
		}
		return bulk(e.encoding()), true
	}
	return "", false
}

func allowed(condition string, old, when int64) bool {
	switch condition {
	case "NX":
		return old == 0
	case "XX":
		return old != 0
	case "GT":
		return old != 0 && unix(when) > unix(old)
	default: // LT
		return old == 0 || unix(when) < unix(old)
	}
}

func (e entryOf) encoding() string {
	n, err := strconv.ParseInt(e.value, 10, 64)
	switch {
	case e.fields != nil && e.large:
		return "hashtable"
	case e.fields != nil:
		return "listpack"
	case e.kept != "":
		return e.kept
	case err == nil && strconv.FormatInt(n, 10) == e.value:
		return "int"
	case len(e.value) <= 44:
		return "embstr"
	}
	return "raw"
}

// doString is do for commands on a key that holds a string.
func (m *model) doString(verb string, args []string) string {
	key := args[0]
	e, there := m.get(key)
	old := m.null()
	if there {
		old = bulk(e.value)
	}
	wrong := e.fields != nil
	switch verb {
	case "SET":
		if wrong && slices.Contains(args[2:], "GET") {
			return "-" + errKind
		}
		return m.set(args, e, there, old)
	case "SETNX":
		if !there {
			m.keys[key] = entryOf{value: args[1]}
		}
		return truth(!there)
	case "SETEX", "PSETEX":
		n, _ := strconv.ParseInt(args[1], 10, 64)
		m.keys[key] = entryOf{value: args[2], at: m.now + n*map[string]int64{"SETEX": 1e9, "PSETEX": 1e6}[verb]}
		return "+OK"
	}
	if wrong {
		return "-" + errKind
	}
	switch verb {
	case "GET":
		return old
	case "GETSET":
		m.keys[key] = entryOf{value: args[1]}
		return old
	case "GETDEL":
		delete(m.keys, key)
		return old
	case "GETEX":
		if there && args[1] == "PERSIST" {
			m.do([]string{"PERSIST", key})
		} else if there {
			m.do([]string{"EXPIRE", key, args[2]})
		}
		return old
	case "STRLEN":
		return fmt.Sprint(":", len(e.value))
	case "APPEND":
		if there {
			e.kept = "raw"
		}
		e.value += args[1]
		m.keys[key] = e
		return fmt.Sprint(":", len(e.value))
	case "SETRANGE":
		offset, _ := strconv.Atoi(args[1])
		if args[2] != "" {
			v := []byte(e.value)
			v = append(v, make([]byte, max(0, offset+len(args[2])-len(v)))...)
			copy(v[offset:], args[2])
			e.value, e.kept = string(v), "raw"
			m.keys[key] = e
		}
		return fmt.Sprint(":", len(e.value))
	case "GETRANGE":
		from, _ := strconv.Atoi(args[1])
		to, _ := strconv.Atoi(args[2])
		return bulk(slice(e.value, from, to))
	case "INCR":
		return m.add(key, "1", 1)
	case "DECR":
		return m.add(key, "1", -1)
	case "INCRBY":
		return m.add(key, args[1], 1)
	case "DECRBY":
		return m.add(key, args[1], -1)
	}
	panic(verb)
}

// slice is GETRANGE, one byte at a time.
func slice(s string, from, to int) string {
	if from < 0 && to < 0 && from > to {
		return ""
	}
	at := func(i int) int {
		if i < 0 {
			return max(0, len(s)+i)
		}
		return i
	}
	var out []byte
	for i := at(from); i <= at(to) && i < len(s); i++ {
		out = append(out, s[i])
	}
	return string(out)
}

// set knows no syntax errors: the commands have none.
func (m *model) set(args []string, e entryOf, present bool, old string) string {
	get := slices.Contains(args[2:], "GET")
	if slices.Contains(args[2:], "NX") && present || slices.Contains(args[2:], "XX") && !present {
		if get {
			return old
		}
		return m.null()
	}
	e = entryOf{value: args[1], at: e.at}
	if !slices.Contains(args[2:], "KEEPTTL") {
		e.at = 0
	}
	for i, arg := range args {
		unit := map[string]int64{"EX": 1e9, "PX": 1e6}[arg]
		if unit != 0 && i >= 2 {
			n, _ := strconv.ParseInt(args[i+1], 10, 64)
			e.at = m.now + n*unit
		}
	}
	m.keys[args[0]] = e
	if get {
		return old
	}
	return "+OK"
}

func (m *model) add(key, number string, sign int64) string {
	by, _ := strconv.ParseInt(number, 10, 64)
	e, ok := m.get(key)
	if !ok {
		e.value = "0"
	}
	sum, problem := sumOf(e.value, sign*by, errInteger)
	if problem != "" {
		return problem
	}
	e.value, e.kept = sum, ""
	m.keys[key] = e
	return ":" + e.value
}

func sumOf(value string, by int64, complaint string) (sum, problem string) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != value {
		return "", "-" + complaint
	}
	if by > 0 && n+by < n || by < 0 && n+by > n {
		return "", "-" + errFlow
	}
	return strconv.FormatInt(n+by, 10), ""
}

// doHash is do for commands on a key that holds a hash.
func (m *model) doHash(verb string, args []string) string {
	key := args[0]
	e, there := m.get(key)
	if there && e.fields == nil {
		return "-" + errKind
	}
	value := func(name string) string {
		if i := e.field(name); i >= 0 {
			return bulk(e.fields[i].value)
		}
		return m.null()
	}
	n, done := 0, false
	switch verb {
	case "HSET", "HMSET":
		for i := 1; i < len(args); i += 2 {
			if e, done = e.with(args[i], args[i+1]); done {
				n++
			}
		}
		m.put(key, e)
		if verb == "HMSET" {
			return "+OK"
		}
		return fmt.Sprint(":", n)
	case "HSETNX":
		if e.field(args[1]) < 0 {
			e, _ = e.with(args[1], args[2])
			m.put(key, e)
			return ":1"
		}
		return ":0"
	case "HDEL":
		for _, name := range args[1:] {
			if e, done = e.without(name); done {
				n++
			}
		}
		if n > 0 {
			m.put(key, e)
		}
		return fmt.Sprint(":", n)
	case "HGET":
		return value(args[1])
	case "HMGET":
		reply := fmt.Sprint("*", len(args)-1)
		for _, name := range args[1:] {
			reply += " " + value(name)
		}
		return reply
	case "HEXISTS":
		return truth(e.field(args[1]) >= 0)
	case "HSTRLEN":
		if i := e.field(args[1]); i >= 0 {
			n = len(e.fields[i].value)
		}
		return fmt.Sprint(":", n)
	case "HLEN":
		return fmt.Sprint(":", len(e.fields))
	case "HINCRBY":
		by, _ := strconv.ParseInt(args[2], 10, 64)
		old := "0"
		if i := e.field(args[1]); i >= 0 {
			old = e.fields[i].value
		}
		sum, problem := sumOf(old, by, "ERR hash value is not an integer")
		if problem != "" {
			return problem
		}
		e, _ = e.with(args[1], sum)
		m.put(key, e)
		return ":" + sum
	case "HGETALL", "HKEYS", "HVALS":
		return m.list(verb, e)
	}
	panic(verb)
}

func (m *model) list(verb string, e entryOf) string {
	reply := fmt.Sprint("*", len(e.fields))
	switch {
	case verb == "HGETALL" && m.v3:
		reply = fmt.Sprint("%", len(e.fields))
	case verb == "HGETALL":
		reply = fmt.Sprint("*", 2*len(e.fields))
	}
	for _, f := range e.fields {
		if verb != "HVALS" {
			reply += " " + bulk(f.name)
		}
		if verb != "HKEYS" {
			reply += " " + bulk(f.value)
		}
	}
	if e.large {
		return "?" + reply
	}
	return reply
}
