package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// model is a cache that is too simple to be wrong: one map, one command at a time.
type model struct {
	now  int64 // ns
	keys map[string]entryOf
}

type entryOf struct {
	value string
	at    int64 // when it expires; 0: never
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

func bulk(s string) string { return flat(fmt.Appendf(nil, "$%d\r\n%s\r\n", len(s), s)) }

// do returns the reply to a command whose number of arguments is right. The number
// of keys may be smaller by up to slack: keys that expired count until they are found.
func (m *model) do(words []string) (reply string, slack int) {
	switch verb, args := words[0], words[1:]; verb {
	case "GET":
		if e, ok := m.get(args[0]); ok {
			return bulk(e.value), 0
		}
		return "$-1", 0
	case "STRLEN":
		e, _ := m.get(args[0])
		return fmt.Sprint(":", len(e.value)), 0
	case "SET":
		return m.set(args), 0
	case "APPEND":
		e, _ := m.get(args[0])
		e.value += args[1]
		m.keys[args[0]] = e
		return fmt.Sprint(":", len(e.value)), 0
	case "INCR":
		return m.add(args[0], 1), 0
	case "DECR":
		return m.add(args[0], -1), 0
	case "DEL", "EXISTS":
		n := 0
		for _, key := range args {
			if _, ok := m.get(key); ok {
				n++
			}
			if verb == "DEL" {
				delete(m.keys, key)
			}
		}
		return fmt.Sprint(":", n), 0
	case "MSET":
		for i := 0; i < len(args); i += 2 {
			m.keys[args[i]] = entryOf{value: args[i+1]}
		}
		return "+OK", 0
	case "MGET":
		reply = fmt.Sprint("*", len(args))
		for _, key := range args {
			one, _ := m.do([]string{"GET", key})
			reply += " " + one
		}
		return reply, 0
	case "EXPIRE":
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return "-" + errInteger, 0
		}
		e, ok := m.get(args[0])
		if !ok {
			return ":0", 0
		}
		if e.at = m.now + n*1e9; n <= 0 {
			delete(m.keys, args[0])
		} else {
			m.keys[args[0]] = e
		}
		return ":1", 0
	case "PERSIST":
		e, ok := m.get(args[0])
		if !ok || e.at == 0 {
			return ":0", 0
		}
		e.at = 0
		m.keys[args[0]] = e
		return ":1", 0
	case "TTL":
		e, ok := m.get(args[0])
		if !ok {
			return ":-2", 0
		}
		if e.at == 0 {
			return ":-1", 0
		}
		return fmt.Sprint(":", ((e.at-m.now)/1e6+500)/1000), 0
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
	case "PING":
		return "+PONG", 0
	}
	panic(words[0])
}

// set knows no syntax errors: the commands have none.
func (m *model) set(args []string) string {
	_, present := m.get(args[0])
	if slices.Contains(args[2:], "NX") && present || slices.Contains(args[2:], "XX") && !present {
		return "$-1"
	}
	e := entryOf{value: args[1]}
	for i, arg := range args {
		unit := map[string]int64{"EX": 1e9, "PX": 1e6}[arg]
		if unit != 0 && i >= 2 {
			n, _ := strconv.ParseInt(args[i+1], 10, 64)
			e.at = m.now + n*unit
		}
	}
	m.keys[args[0]] = e
	return "+OK"
}

func (m *model) add(key string, by int64) string {
	e, ok := m.get(key)
	if !ok {
		e.value = "0"
	}
	n, err := strconv.ParseInt(e.value, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != e.value {
		return "-" + errInteger
	}
	if by > 0 && n+by < n || by < 0 && n+by > n {
		return "-" + errFlow
	}
	e.value = strconv.FormatInt(n+by, 10)
	m.keys[key] = e
	return ":" + e.value
}

// agrees reports whether a reply is the one wanted.
func agrees(got, want string, slack int) bool {
	if got == want || slack == 0 {
		return got == want
	}
	g, err := strconv.Atoi(strings.TrimPrefix(got, ":"))
	w, _ := strconv.Atoi(want[1:])
	return err == nil && g <= w && g >= w-slack
}

// randomCommand draws a command on few keys, so that commands meet.
func randomCommand(rng *rand.Rand) []string {
	key := func() string { return fmt.Sprint("k", rng.IntN(30)) }
	keys := func() (all []string) {
		for range 1 + rng.IntN(12) {
			all = append(all, key())
		}
		return all
	}
	value := func() string {
		switch rng.IntN(6) {
		case 0:
			return strings.Repeat("x", rng.IntN(40))
		case 1:
			return strings.Repeat("long\r\n", rng.IntN(1000))
		case 2:
			return strconv.FormatInt(int64(rng.Uint64()), 10)
		case 3:
			return []string{"9223372036854775807", "-9223372036854775808", "007", "-0", "", "-"}[rng.IntN(6)]
		default:
			return strconv.Itoa(rng.IntN(100) - 50)
		}
	}
	switch rng.IntN(22) {
	case 0, 1, 2:
		words := []string{"SET", key(), value()}
		if rng.IntN(3) == 0 {
			words = append(words, []string{"NX", "XX"}[rng.IntN(2)])
		}
		if rng.IntN(3) == 0 {
			words = append(words, []string{"EX", "PX"}[rng.IntN(2)], fmt.Sprint(1+rng.IntN(5000)))
		}
		return words
	case 3, 4, 5:
		return []string{"GET", key()}
	case 6:
		return []string{"STRLEN", key()}
	case 7:
		return []string{"APPEND", key(), value()}
	case 8, 9:
		return []string{"INCR", key()}
	case 10:
		return []string{"DECR", key()}
	case 11:
		return append([]string{"DEL"}, keys()...)
	case 12:
		return append([]string{"EXISTS"}, keys()...)
	case 13:
		words := []string{"MSET"}
		for _, k := range keys() {
			words = append(words, k, value())
		}
		return words
	case 14, 15, 16:
		return append([]string{"MGET"}, keys()...)
	case 17:
		return []string{"EXPIRE", key(), fmt.Sprint(rng.IntN(10) - 2)}
	case 18:
		return []string{"PERSIST", key()}
	case 19:
		return []string{"TTL", key()}
	case 20:
		if rng.IntN(20) == 0 {
			return []string{"FLUSHALL"}
		}
		return []string{"PING"}
	default:
		return []string{"DBSIZE"}
	}
}

// TestAgainstModel: random commands in pipelines of random length on one connection,
// reply for reply. As there are two stores, and commands on one key, on many and on
// all of them follow each other in one pipeline, this is the order per key too.
func TestAgainstModel(t *testing.T) {
	each(t, func(t *testing.T, workers int) { againstModel(t, workers, uint64(time.Now().UnixNano()), 20_000) })
}

// TestLongAgainstModel is fifty times as much.
func TestLongAgainstModel(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1: this takes a minute")
	}
	each(t, func(t *testing.T, workers int) {
		for i := range uint64(50) {
			againstModel(t, workers, uint64(time.Now().UnixNano())+i, 20_000)
		}
	})
}

func againstModel(t *testing.T, workers int, seed uint64, n int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	o := virtual()
	o.seed = seed
	w := openWorld(t, workers, o)
	c := w.dial()
	m := &model{keys: map[string]entryOf{}}
	for done := 0; done < n; {
		m.now = w.clock.Load()
		var text []byte
		var pipeline [][]string
		for range 1 + rng.IntN(200) {
			words := randomCommand(rng)
			pipeline = append(pipeline, words)
			text = resp.AppendCommand(text, words...)
		}
		for len(text) > 0 { // in pieces that don't end where commands do
			k := min(len(text), 1+rng.IntN(30_000))
			c.send(text[:k])
			text = text[k:]
		}
		for _, words := range pipeline {
			done++
			want, slack := m.do(words)
			if got := c.reply(); !agrees(got, want, slack) {
				t.Fatalf("seed %d, command %d, %.200q: %.200q, want %.200q or %d less", seed, done, words, got, want, slack)
			}
		}
		if rng.IntN(4) == 0 {
			w.pass(time.Duration(rng.IntN(2000)) * time.Millisecond)
		}
	}
}
