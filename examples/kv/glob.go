package main

// matches reports whether all of text is what pattern describes: ? is any byte, *
// any bytes, [a-c] one of a set, [^a-c] none of it, and \ takes the next byte as it
// is. It reads patterns that have no end as Redis does, and as there an empty text
// matches the patterns "" and "*" only. The time that it takes is at
// most the product of the lengths: only the last * is tried again.
func matches(pattern, text []byte) bool {
	if len(text) == 0 {
		return len(pattern) == 0 || string(pattern) == "*"
	}
	star, again := -1, 0 // where the last * stands, and how far it reached
	p, i := 0, 0
	for i < len(text) {
		if p < len(pattern) && pattern[p] == '*' {
			star, again = p, i
			p++
			continue
		}
		if p < len(pattern) {
			if next, ok := one(pattern, p, text[i]); ok {
				p, i = next, i+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		again++
		p, i = star+1, again
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// one matches one byte with what stands in the pattern at p, and returns what
// follows that.
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

// set is one for a set, whose first byte stands at p.
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
