package main

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// generator makes commands.
type generator struct {
	dice
	pass    string // both servers want it; "" if they want none
	recipes []recipe
	total   float64 // of their weights
}

// argsMax is how many arguments a server takes before one has shown a password.
const argsMax = 10

// unknown stands for the names that no server knows.
const unknown = "UNKNOWN"

// recipe makes the arguments of one command.
type recipe struct {
	name   string
	weight float64
	args   func(g *generator) []string
}

func newGenerator(o options) *generator {
	g := &generator{dice: dice{Rand: rand.New(rand.NewPCG(o.seed, 0)), large: o.pass == ""}, pass: o.pass}
	for _, r := range recipes() {
		if len(o.only) > 0 && !o.only[r.name] || o.without[r.name] {
			continue
		}
		if o.pass != "" && r.name == "AUTH" {
			r.weight *= 10 // so that rights come back soon after a RESET
		}
		g.recipes = append(g.recipes, r)
		g.total += r.weight
	}
	return g
}

// next makes a command; one of 25 is spoiled.
func (g *generator) next() command {
	for {
		c := g.plain()
		if g.in(4) && c.name() != "HRANDFIELD" { // see hrandfield
			c = g.spoil(c)
		}
		if (g.pass == "" || len(c) <= argsMax) && !c.comparesFar() {
			return c
		}
	}
}

// comparesFar reports whether a command asks which of two times is later that may both
// be behind the farthest.
func (c command) comparesFar() bool {
	if !strings.Contains(c.name(), "EXPIRE") || len(c) < 4 {
		return false
	}
	n, _ := resp.ParseInt([]byte(c[2]))
	return n > farthest*1000 || n > farthest && !strings.HasPrefix(c.name(), "P")
}

func (g *generator) plain() command {
	at := g.Float64() * g.total
	for _, r := range g.recipes {
		if at -= r.weight; at < 0 {
			name := r.name
			if name == unknown {
				name = one(&g.dice, "FOO", "GETT", "SE", "\x00", "G\r\nET", "é", strings.Repeat("LONG", 40))
			}
			return append(command{g.anyCase(name)}, r.args(g)...)
		}
	}
	panic("differ: the weights don't add up")
}

// spoil gives a command an argument too many, too few, or another one.
func (g *generator) spoil(c command) command {
	c = append(command(nil), c...)
	switch i := g.IntN(len(c)); g.IntN(4) {
	case 0:
		return append(c, g.junk())
	case 1:
		return c[:max(i, 1)]
	case 2:
		if i > 0 {
			return append(c[:i], c[i+1:]...)
		}
	case 3:
		if i > 0 {
			c[i] = g.junk()
		}
	}
	return c
}

// mix returns words in any order and any case.
func (g *generator) mix(options [][]string) (words []string) {
	g.Shuffle(len(options), func(i, j int) { options[i], options[j] = options[j], options[i] })
	for _, option := range options {
		words = append(words, g.anyCase(option[0]))
		words = append(words, option[1:]...)
	}
	return words
}

// expiry is EX, PX, EXAT or PXAT with a time.
func (g *generator) expiry() []string {
	switch g.IntN(4) {
	case 0:
		return []string{"EX", g.seconds()}
	case 1:
		return []string{"PX", g.millis()}
	case 2:
		return []string{"EXAT", g.second()}
	}
	return []string{"PXAT", g.milli()}
}

// setOptions follow SET's value; few of them clash.
func (g *generator) setOptions() []string {
	var options [][]string
	if g.in(30) {
		options = append(options, []string{one(&g.dice, "NX", "XX")})
	}
	if g.in(25) {
		options = append(options, []string{"GET"})
	}
	if g.in(35) {
		options = append(options, g.expiry())
	}
	if g.in(15) {
		options = append(options, []string{"KEEPTTL"})
	}
	if g.in(4) {
		options = append(options, []string{one(&g.dice, "NX", "XX", "GET", "KEEPTTL", "FOO", "EX", "PERSIST")})
	}
	return g.mix(options)
}

func (g *generator) getexOptions() []string {
	var options [][]string
	if g.in(60) {
		options = append(options, g.expiry())
	}
	if g.in(20) {
		options = append(options, []string{"PERSIST"})
	}
	if g.in(5) {
		options = append(options, []string{one(&g.dice, "PERSIST", "KEEPTTL", "NX", "EX")})
	}
	return g.mix(options)
}

// expire makes the arguments of EXPIRE and its kin.
func expire(when func(d *dice) string) func(g *generator) []string {
	return func(g *generator) []string {
		args := []string{g.key(), when(&g.dice)}
		if g.in(20) {
			args[0] = g.hash()
		}
		for g.in(30) && len(args) < 5 {
			args = append(args, g.anyCase(one(&g.dice, "NX", "XX", "GT", "LT", "GT", "LT", "FOO")))
		}
		return args
	}
}

// several repeats what make returns, least to most times.
func several(least, most int, make func(g *generator) []string) func(g *generator) []string {
	return func(g *generator) (args []string) {
		for range least + g.IntN(most-least+1) {
			args = append(args, make(g)...)
		}
		return args
	}
}

// hset writes few fields, seldom very many.
func (g *generator) hset() []string {
	hash := g.hash()
	args := []string{hash}
	count := 1 + g.IntN(4)
	if g.pass == "" && strings.ContainsAny(hash, "HN") && g.in(10) {
		count = 400 + g.IntN(600) // about 512 different fields, where Redis makes a table
	}
	for range count {
		args = append(args, g.field(hash), g.fieldValue(hash))
	}
	return args
}

func (g *generator) hsetnx() []string {
	hash := g.hash()
	return []string{hash, g.field(hash), g.fieldValue(hash)}
}

// fields is a hash with least to most of its fields, seldom very many.
func fields(least, most int) func(g *generator) []string {
	return func(g *generator) []string {
		hash := g.hash()
		args := []string{hash}
		count := least + g.IntN(most-least+1)
		if most > 1 && g.pass == "" && g.in(2) {
			count = 100
		}
		for range count {
			args = append(args, g.field(hash))
		}
		return args
	}
}

// name is what a connection can be called, or not.
func (g *generator) name() string {
	return one(&g.dice, "app", "app:1", "", "two words", "new\nline", "é", strconv.Itoa(g.IntN(100)))
}

// login is the arguments of AUTH; the right ones are the most frequent if there are any.
func (g *generator) login() []string {
	if g.pass != "" && g.in(60) {
		if g.in(30) {
			return []string{"default", g.pass}
		}
		return []string{g.pass}
	}
	return one(&g.dice, []string{"wrong"}, []string{"default", "wrong"}, []string{"nobody", "wrong"}, []string{""}, []string{"default", ""},
		[]string{"DEFAULT", g.pass}, []string{"a", "b", "c"})
}

func (g *generator) hello() []string {
	args := []string{one(&g.dice, "2", "2", "2", "3", "3", "3", "1", "4", "abc", "", "-3", "03", "99999999999999999999")}
	if g.in(10) {
		return nil
	}
	if g.in(20) {
		args = append(args, g.anyCase("SETNAME"), g.name())
	}
	if g.pass != "" && g.in(50) {
		args = append(args, g.anyCase("AUTH"), "default", g.pass)
	} else if g.in(10) {
		args = append(append(args, g.anyCase("AUTH")), g.login()...)
	}
	if g.in(3) {
		args = append(args, g.junk())
	}
	return args
}
