package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A policy says which room may import which. Its text has one statement a line:
//
//	floor N                 the rooms that follow are on this floor
//	room -> a, b            room may import a and b, and whatever these may import
//	room -> anything        room may import every lower floor but what is internal, as a program
//	                        that shows what users can do
//	room                    room imports nothing of the module
//	planned room -> a       the same for a room that is not built yet
//	room !-> a              an assertion on the rest of the policy: no path leads there
//	nobody imports floor N  an assertion, and the floor's rooms have no importer
//
// A room "x/..." means x and all below it. What follows # is a comment.
type policy struct {
	rooms    []*room
	closed   int         // the floor that nobody imports
	negative [][2]string // room, what it never reaches
}

type room struct {
	pattern  string
	floor    int
	planned  bool
	anything bool
	direct   []string
	reach    []string // direct and all that follows from it, sorted
}

// parse reads a policy and refuses one that contradicts itself.
func parse(text string) (*policy, error) {
	p := &policy{closed: -1}
	floor := -1
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		above := floor
		if n, err := fmt.Sscanf(line, "floor %d", &floor); n == 1 && err == nil {
			if floor <= above {
				return nil, fmt.Errorf("policy: floor %d stands after floor %d", floor, above)
			}
			continue
		}
		if n, err := fmt.Sscanf(line, "nobody imports floor %d", &p.closed); n == 1 && err == nil {
			continue
		}
		if from, to, ok := strings.Cut(line, "!->"); ok {
			p.negative = append(p.negative, [2]string{strings.TrimSpace(from), strings.TrimSpace(to)})
			continue
		}
		r, err := parseRoom(line, floor)
		if err != nil {
			return nil, err
		}
		if p.named(r.pattern) != nil {
			return nil, fmt.Errorf("policy: two lines for %s", r.pattern)
		}
		p.rooms = append(p.rooms, r)
	}
	for _, r := range p.rooms {
		if err := p.follow(r); err != nil {
			return nil, err
		}
	}
	return p, p.assert()
}

func parseRoom(line string, floor int) (*room, error) {
	from, to, arrow := strings.Cut(line, "->")
	r := &room{floor: floor}
	r.pattern, r.planned = strings.CutPrefix(strings.TrimSpace(from), "planned ")
	if floor < 0 || r.pattern == "" || strings.Contains(r.pattern, " ") || arrow && strings.TrimSpace(to) == "" {
		return nil, fmt.Errorf("policy: can't read %q", line)
	}
	if strings.TrimSpace(to) == "anything" {
		r.anything = true
	} else if arrow {
		for dep := range strings.SplitSeq(to, ",") {
			r.direct = append(r.direct, strings.TrimSpace(dep))
		}
	}
	return r, nil
}

// follow fills reach. Lower floors stand first in the text, so one pass is enough.
func (p *policy) follow(r *room) error {
	reach := map[string]bool{}
	for _, low := range p.rooms {
		if r.anything && low.floor < r.floor && !within(low.pattern, "internal/...") {
			reach[low.pattern] = true
		}
	}
	for _, dep := range r.direct {
		low := p.named(dep)
		switch {
		case low == nil:
			return fmt.Errorf("policy: %s -> %s, which has no line", r.pattern, dep)
		case low.floor >= r.floor:
			return fmt.Errorf("policy: %s -> %s does not lead down", r.pattern, dep)
		}
		reach[dep] = true
		for _, d := range low.reach {
			reach[d] = true
		}
	}
	r.reach = slices.Sorted(maps.Keys(reach))
	return nil
}

func (p *policy) assert() error {
	for _, n := range p.negative {
		found := false
		for _, r := range p.rooms {
			if !within(r.pattern, n[0]) {
				continue
			}
			found = true
			if slices.Contains(r.reach, n[1]) {
				return fmt.Errorf("policy: %s reaches %s, against %s !-> %s", r.pattern, n[1], n[0], n[1])
			}
		}
		if !found || p.named(n[1]) == nil {
			return fmt.Errorf("policy: %s !-> %s names a room without a line", n[0], n[1])
		}
	}
	return nil
}

// named returns the line that reads exactly so.
func (p *policy) named(pattern string) *room {
	for _, r := range p.rooms {
		if r.pattern == pattern {
			return r
		}
	}
	return nil
}

// of returns the line that a package comes under.
func (p *policy) of(pkg string) *room {
	if r := p.named(pkg); r != nil {
		return r
	}
	for _, r := range p.rooms {
		if within(pkg, r.pattern) {
			return r
		}
	}
	return nil
}
