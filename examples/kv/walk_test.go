package main

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack"
)

// costly is a pattern, and a name that it takes half a minute and more to find out about.
var costly, costlyName = "*" + strings.Repeat("a", 8<<10) + "b", strings.Repeat("a", 8<<20)

// TestWalksGiveTheStoreUp: whatever a command looks for, others have their turn meanwhile, and
// those behind it on its connection don't overtake it.
func TestWalksGiveTheStoreUp(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		c := w.dial()
		require.Equal(t, "+OK", c.do("SET", costlyName, "1"))
		require.Equal(t, ":1", c.do("HSET", "h", costlyName, "1"))
		other := w.dial()
		for _, words := range [][]string{
			{"KEYS", costly},
			{"SCAN", fmt.Sprint(w.cluster.of([]byte(costlyName))), "MATCH", costly, "COUNT", "1000"},
			{"HSCAN", "h", "0", "MATCH", costly, "COUNT", "1000"},
		} {
			walker := w.dial()
			text := resp.AppendCommand(nil, words...)
			walker.send(append(text, encoded("SET behind"+words[0]+" 1")...))
			for i := range 10 {
				require.Equal(t, "+OK", other.do("SET", fmt.Sprint("k", i), "1"), words[0])
			}
			require.Equal(t, "$-1", other.do("GET", "behind"+words[0]), words[0])
			// or the server would have it answered yet
			require.NoError(t, walker.Conn.(*net.TCPConn).SetLinger(0))
			walker.Close()
		}
	})
}

// TestWalkGoesOn: what a pattern takes several turns for comes out the same, and in order.
func TestWalkGoesOn(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		name := strings.Repeat("a", 100_000) // walkSteps are soon over
		for i := range 20 {
			c.do("SET", fmt.Sprint(name, "b", i), "1")
			c.do("HSET", "h", fmt.Sprint(name, "b", i), fmt.Sprint(i))
		}
		pattern := "*aaaaaaab[0-9]*"
		require.Len(t, c.scanned("HSCAN", "h", "CURSOR", "MATCH", pattern, "COUNT", "1000"), 40)
		require.Len(t, c.scanned("HSCAN", "h", "CURSOR", "MATCH", pattern+"x"), 0)
		c.send(append(resp.AppendCommand(nil, "KEYS", pattern), encoded("FLUSHALL", "DBSIZE")...))
		require.Equal(t, 20, strings.Count(c.reply(), name))
		require.Equal(t, "+OK", c.reply())
		require.Equal(t, ":0", c.reply())
	})
}

// TestManyOptions: the work is in proportion to their number.
func TestManyOptions(t *testing.T) {
	c := openWorld(t, 1, options{}).dial()
	require.Equal(t, "+OK", c.do("SET", "k", "v"))
	for _, x := range []struct{ line, more, want string }{
		{"SET k v", "GET", "$1 v"},
		{"GETEX k", "PERSIST", "$1 v"},
		{"EXPIRE k 1", "XX", ":0"},
		{"MEMORY USAGE k", "SAMPLES 1", ":"},
		{"SCAN 0", "COUNT 1", "*2 $"},
		{"HSCAN none 0", "COUNT 1", "*2 $1 0 *0"},
		{"HELLO 2", "SETNAME me", "*14 "},
		{"CLIENT LIST ID", "1 2", "$"},
		{"CLIENT KILL", "SKIPME no SKIPME yes", ":0"},
	} {
		words, more := strings.Fields(x.line), strings.Fields(x.more)
		for range 300_000 / len(more) {
			words = append(words, more...)
		}
		require.Contains(t, c.do(words...), x.want, x.line)
	}
}

// TestConfigGetIsQuick: the longest patterns that it takes, and one that is longer.
func TestConfigGetIsQuick(t *testing.T) {
	c := openWorld(t, 1, options{}).dial()
	require.Equal(t, "*0", c.do("CONFIG", "GET", "*["+strings.Repeat("x", patternsMax-100)))
	require.Contains(t, c.do("CONFIG", "GET", "*["+strings.Repeat("x", patternsMax)), "-ERR the patterns")
}

// TestWalkKeepsWhatItFound: a value that it has found stays as it was, whatever becomes of its
// hash.
func TestWalkKeepsWhatItFound(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{})
		walker, other := w.dial(), w.dial()
		field, old := strings.Repeat("a", 40_000)+"b", strings.Repeat("v", 1000)
		require.Equal(t, ":1", other.do("HSET", "h", field, old))
		walker.send(resp.AppendCommand(nil, "HSCAN", "h", "0", "MATCH", "*"+strings.Repeat("a", 256)+"b"))
		for i := range 20 { // it has begun by then
			require.Equal(t, "+OK", other.do("SET", fmt.Sprint("k", i), "1"))
		}
		require.Equal(t, ":1", other.do("DEL", "h"))
		for i := range 20 { // as long, so that one of them gets its place
			require.Equal(t, ":1", other.do("HSET", fmt.Sprint("h", i), strings.Repeat("c", len(field)), strings.Repeat("w", len(old))))
		}
		reply := walker.reply()
		require.Contains(t, reply, old)
		require.NotContains(t, reply, "w")
	})
}

// asks is commands for one store in the order in which it gets them. The first is a walk, and so
// are others that fronts do. The answer is their replies, each with its number.
type asks struct {
	core.AskStack[[][]string, []string]
	replies []core.Future[resp.Reply]
}

type asker struct{ stores *stores }

var askerAsk = core.Handle((*asker).ask)

func (a *asker) ask(s *asks) core.Yield {
	s.replies = make([]core.Future[resp.Reply], len(s.Req))
	for i, words := range s.Req {
		text := stack.Of(s).Engine().Shard.Copy(resp.AppendCommand(nil, words...))
		if do := lookup([]byte(words[0])).do; i == 0 || do == nil {
			a.stores.walks[0].Ask(s, &s.replies[i], walkRequest{bytes: text})
		} else {
			a.stores.ports[0].Ask(s, &s.replies[i], request{do: do, bytes: text})
		}
	}
	return core.Suspend(s, (*asker).answer)
}

func (a *asker) answer(s *asks) core.Yield {
	var all []string
	for i := range s.replies {
		rep, err := s.replies[i].Get()
		if err != nil {
			return s.Throw(err)
		}
		all = append(all, strings.TrimSpace(breaks.Replace(string(resp.AppendReply(nil, &rep))))+fmt.Sprint(" #", rep.Int))
	}
	return s.Return(all)
}

// simStore returns what has the one store of a simulation do commands, see asks.
func simStore(t *testing.T, seed uint64) (ask func(all ...[]string) []string) {
	sim := housetest.New(t, seed, house.Config{Workers: 1})
	c := newStores(sim.System, seed, 0)
	at := askerAsk.At(core.Spawn(sim.Workers()[0], func() *asker { return &asker{c} }))
	return func(all ...[]string) []string {
		call := core.Begin(at, all)
		sim.Rest()
		replies, err := call.Get()
		require.NoError(t, err)
		return replies
	}
}

// numbered returns n arguments.
func numbered(prefix string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(prefix, i))
	}
	return all
}

// announced is how many elements a reply says that it has: an array, or a store's part of one.
func announced(t *testing.T, rep string) int {
	text, isArray := strings.CutPrefix(strings.Fields(rep)[0], "*")
	if !isArray {
		_, text, _ = strings.Cut(rep, "#")
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "%.100s", rep)
	return n
}

// TestLongCommandsAreWalks: what reads much gives the store up, and comes out the same.
func TestLongCommandsAreWalks(t *testing.T) {
	const n = 2000
	parts, heard := 0, 0
	system, err := house.New(house.Config{Workers: 1, Trace: func(_ int, _ uint64, step string, _ uint64) {
		switch {
		case strings.Contains(step, "walk"):
			parts++
		case strings.Contains(step, "(*store).run"):
			heard = parts
		}
	}})
	require.NoError(t, err)
	require.NoError(t, system.Start(t.Context()))
	defer func() { require.NoError(t, system.Shutdown(t.Context())) }()
	c := newStores(system, 1, 0)
	at := askerAsk.At(core.Spawn(system.Workers()[0], func() *asker { return &asker{c} }))
	ask := func(all ...[]string) string {
		replies, err := core.Ask(t.Context(), at, all)
		require.NoError(t, err)
		return replies[0]
	}
	var hset, mset []string
	for i := range n {
		hset = append(hset, fmt.Sprint("f", i), fmt.Sprint("v", i))
		mset = append(mset, fmt.Sprint("k", i), fmt.Sprint("v", i))
	}
	ask([]string{"KEYS", "*"}, append([]string{"HSET", "h"}, hset...), append([]string{"MSET"}, mset...))
	other := []string{"EXISTS", "h"}
	for _, x := range []struct {
		words []string
		want  []string // in any order
		count string
	}{
		{[]string{"HGETALL", "h"}, hset, "*4000 "},
		{[]string{"HKEYS", "h"}, numbered("f", n), "*2000 "},
		{[]string{"HVALS", "h"}, numbered("v", n), "*2000 "},
		{append([]string{"HMGET", "h", "none"}, numbered("f", n)...), numbered("v", n), "*2001 $-1 $2 v0 $2 v1 "},
		{append([]string{"MGET", "none"}, numbered("k", n)...), numbered("v", n), "$-1 $2 v0 $2 v1 "},
	} {
		parts, heard = 0, 0
		got := ask(x.words, other)
		require.Truef(t, strings.HasPrefix(got, x.count), "%v: %.100s", x.words[0], got)
		var elements []string
		for _, word := range strings.Fields(got) {
			if !strings.Contains("$*#", word[:1]) {
				elements = append(elements, word)
			}
		}
		require.ElementsMatch(t, x.want, elements, x.words[0])
		require.Greater(t, parts, 2*visitSteps*n/walkSteps/3, x.words[0])
		require.Less(t, heard, parts/3, "%v: others wait until its end", x.words[0])
	}
	for _, words := range [][]string{{"EXISTS"}, {"TOUCH"}} {
		parts = 0
		require.Equal(t, fmt.Sprint(" #", n+2), ask(append(append(words, "none", "k1", "k1"), numbered("k", n)...), other), words[0])
		require.Greater(t, parts, n*visitSteps/walkSteps-1, words[0])
	}
	parts = 0
	require.Contains(t, ask([]string{"HRANDFIELD", "h", "-2000", "WITHVALUES"}, other), "*4000 $")
	require.Greater(t, parts, n*visitSteps/walkSteps-1)
	require.Equal(t, "*0 #0", ask([]string{"HRANDFIELD", "none", "-2000"}))
	require.Equal(t, "-"+errKind+" #0", ask([]string{"HRANDFIELD", "k1", "-2000"}))
	require.Equal(t, "-"+errKind+" #0", ask([]string{"HGETALL", "k1"}))
	require.Equal(t, "*0 #0", ask([]string{"HGETALL", "none"}))
	require.Equal(t, "*2 $1 0 *0 #0", ask([]string{"HSCAN", "none", "77"}))
}

// TestWalkSeesNothingTwice: also while what it walks through shrinks, is replaced, or goes.
func TestWalkSeesNothingTwice(t *testing.T) {
	const n, left = 3000, 50
	var hset []string
	for i := range n {
		hset = append(hset, fmt.Sprint("f", i), "v")
	}
	for _, walk := range [][]string{{"HKEYS", "h"}, {"KEYS", "*"}} {
		for later := range 40 {
			ask := simStore(t, uint64(later))
			fill, shrink := append([]string{"HSET", "h"}, hset...), append([]string{"HDEL", "h"}, numbered("f", n)[left:]...)
			if walk[0] == "KEYS" {
				fill, shrink = append([]string{"MSET"}, hset...), append([]string{"DEL"}, numbered("f", n)[left:]...)
			}
			ask([]string{"KEYS", "x"}, fill)
			all := [][]string{walk}
			for range later { // a command between each part and the next
				all = append(all, []string{"EXISTS", "x"})
			}
			half := len(shrink) / 2
			all = append(all, shrink[:half], append(slices.Clone(shrink[:1+len(shrink)%2]), shrink[half:]...))
			seen := map[string]int{}
			got := ask(all...)[0]
			for _, word := range strings.Fields(got) {
				if word[0] == 'f' {
					seen[word]++
				}
			}
			require.Equal(t, strings.Count(got, "$"), announced(t, got), "%v, %d commands later", walk, later)
			for _, name := range numbered("f", left) {
				require.Equal(t, 1, seen[name], "%v, %d commands later", walk, later)
			}
		}
	}
}

// TestWalksKeepApart: walks that are under way at the same time, and what uses the store's scratch
// between their parts, don't mix.
func TestWalksKeepApart(t *testing.T) {
	ask := simStore(t, 1)
	mset := []string{"MSET"}
	for i := range 500 {
		mset = append(mset, fmt.Sprint("a", i), "1", fmt.Sprint("b", i), "1", fmt.Sprint("c", i), "1")
	}
	ask([]string{"KEYS", "*"}, mset, []string{"HSET", "h", "f", "1"})
	walks := [][]string{{"KEYS", "a*"}, {"KEYS", "b*"}, {"HINCRBYFLOAT", "h", "f", "1"}, {"KEYS", "c*"}}
	var alone []string
	for _, words := range walks {
		if words[0] == "KEYS" {
			alone = append(alone, ask(words)[0])
		}
	}
	for range 3 { // the first leaves the store a scratch
		got := ask(walks...)
		require.Equal(t, alone, []string{got[0], got[1], got[3]})
	}
}

// TestWalkIsOfOneHash: the fields of one that goes and of the one in its place don't stand side by
// side; and one that grows and shrinks meanwhile has none twice.
func TestWalkIsOfOneHash(t *testing.T) {
	fields := func(prefix string, n int) (all []string) {
		for _, name := range numbered(prefix, n) {
			all = append(all, name, "v")
		}
		return all
	}
	hset := func(key, prefix string, n int) []string { return append([]string{"HSET", key}, fields(prefix, n)...) }
	for later := range 12 {
		ask := simStore(t, uint64(later))
		wait := slices.Repeat([][]string{{"EXISTS", "x"}}, later)
		ask([]string{"KEYS", "x"}, hset("h", "f", 1000))
		got := ask(slices.Concat([][]string{{"HKEYS", "h"}}, wait, [][]string{{"DEL", "h"}, hset("h", "g", 1000)})...)[0]
		require.True(t, strings.Contains(got, " f") != strings.Contains(got, " g"), later)
		require.Equal(t, 1000, strings.Count(got, "$"), later)
		require.Equal(t, 1000, announced(t, got), later)

		ask([]string{"KEYS", "x"}, hset("i", "f", 600))
		grown := numbered("g", 4000)
		got = ask(slices.Concat([][]string{{"HKEYS", "i"}}, wait, [][]string{hset("i", "g", 4000)}, wait,
			[][]string{append([]string{"HDEL", "i"}, grown[:2000]...), append([]string{"HDEL", "i"}, grown[2000:]...), append([]string{"HDEL", "i"}, numbered("f", 600)[100:]...)})...)[0]
		seen := map[string]int{}
		for _, word := range strings.Fields(got) {
			seen[word]++
		}
		require.Equal(t, strings.Count(got, "$"), announced(t, got), later)
		for _, name := range numbered("f", 100) {
			require.Equal(t, 1, seen[name], "%d: %s", later, name)
		}
	}
}

// TestListsInOneOrder: names and values of a hash stand in one order, whether its commands are
// walks or not.
func TestListsInOneOrder(t *testing.T) {
	w := openWorld(t, 1, options{})
	c := w.dial()
	words := []string{"HSET", "h"}
	for _, name := range numbered("", 1000) {
		words = append(words, name, name)
	}
	c.do(words...)
	fresh, warm := w.dial(), w.dial()
	for range 6 {
		require.Equal(t, "$-1", warm.do("GET", "none")) // short: HGETALL is no walk then
	}
	keys := fresh.do("HKEYS", "h")
	require.Equal(t, keys, warm.do("HVALS", "h"))
	require.Equal(t, keys, warm.do("HKEYS", "h"))
	require.Equal(t, 2000, strings.Count(w.dial().do("HGETALL", "h"), "$"))
}

// TestPagesAreBounded: whatever COUNT says, SCAN and HSCAN end a page that is long.
func TestPagesAreBounded(t *testing.T) {
	c := openWorld(t, 1, options{}).dial()
	name := strings.Repeat("n", 1000)
	for i := range 1000 {
		c.do("SET", fmt.Sprint(name, i), "1")
		c.do("HSET", "h", fmt.Sprint(name, i), "1")
	}
	for _, words := range [][]string{{"SCAN", "0"}, {"HSCAN", "h", "0"}} {
		reply := c.do(append(words, "COUNT", "1000000")...)
		require.Less(t, len(reply), pageMax+10_000, words[0])
		require.Greater(t, len(reply), pageMax/2, words[0])
		require.NotContains(t, reply[:10], "$1 0 ", words[0])
	}
}

// TestWalksSpeakTheVersion: what isn't there is said in the version that the connection speaks.
func TestWalksSpeakTheVersion(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		c.do("HELLO", "3")
		c.do("HSET", "h", "f", "1")
		want := "*200" + strings.Repeat(" _", 200)
		require.Equal(t, want, c.do(append([]string{"MGET"}, numbered("none", 200)...)...))
		require.Equal(t, want, c.do(append([]string{"HMGET", "h"}, numbered("none", 200)...)...))
		require.Equal(t, "%1 $1 f $1 1", c.do("HGETALL", "h"))
	})
}
