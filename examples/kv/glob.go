package main

import "math"

// matches reports whether pattern describes all of text: ? stands for any byte, * for any bytes,
// [a-c] for one byte of a set, [^a-c] for one that isn't in it, and \ makes the next byte an
// ordinary one. A set without an end is read as Redis does; and as there an empty text matches only
// the patterns "" and "*".
func matches(pattern, text []byte) bool {
	g := newGlob(pattern, text)
	g.run(math.MaxInt)
	return g.matches
}

// glob is a match under way. In all it takes at most as many steps as the product of the two
// lengths plus their sum: only the last * is tried again.
type glob struct {
	pattern, text []byte
	p, i          int // where matching goes on in pattern, in text
	star          int // where the last * of the pattern is, or -1
	again         int // where the text behind that * begins
	matches       bool
}

func newGlob(pattern, text []byte) glob { return glob{pattern: pattern, text: text, star: -1} }

// run goes on for that many steps, or more if the last is in a set, which is matched to its end. It
// returns how many are left, and whether the match is done.
func (g *glob) run(steps int) (left int, done bool) {
	if len(g.text) == 0 {
		g.matches = len(g.pattern) == 0 || string(g.pattern) == "*"
		return steps, true
	}
	for ; steps > 0; steps-- {
		if g.p < len(g.pattern) && g.pattern[g.p] == '*' {
			g.star, g.again = g.p, g.i
			g.p++
			continue
		}
		if g.i == len(g.text) {
			g.matches = g.p == len(g.pattern)
			return steps, true
		}
		if g.p < len(g.pattern) {
			next, ok := one(g.pattern, g.p, g.text[g.i])
			steps -= next - g.p - 1
			if ok {
				g.p, g.i = next, g.i+1
				continue
			}
		}
		if g.star < 0 {
			return steps, true
		}
		g.again++
		g.p, g.i = g.star+1, g.again
	}
	return steps, false
}

// one matches c with the part of the pattern at p that stands for one byte, and returns where the
// next part begins.
func one(pattern []byte, p int, c byte) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return set(pattern, p+1, c)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, pattern[p] == c
}

// set does for a set, whose first byte is at p, what one does.
func set(pattern []byte, p int, c byte) (next int, ok bool) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	for ; p < len(pattern) && pattern[p] != ']'; p++ {
		switch {
		case pattern[p] == '\\' && p+1 < len(pattern):
			p++
			ok = ok || pattern[p] == c
		case p+2 < len(pattern) && pattern[p+1] == '-':
			from, to, c := int8(pattern[p]), int8(pattern[p+2]), int8(c) // as C's char is on x86
			ok = ok || min(from, to) <= c && c <= max(from, to)
			p += 2
		default:
			ok = ok || pattern[p] == c
		}
	}
	if p < len(pattern) {
		p++
	}
	return p, ok != not
}
