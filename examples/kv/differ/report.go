package main

import (
	"fmt"
	"slices"
	"time"
)

// shrinkMax is how long a conversation is shortened.
const shrinkMax = 20 * time.Second

// printedMax is how many commands are printed, shownMax how many bytes of each and of
// a reply.
const (
	printedMax = 40
	shownMax   = 400
)

// report prints a difference in the batch that began with command number first.
func (s *session) report(first int, batch []sent, d *difference) {
	bad := batch[d.at]
	fmt.Printf("differ: seed %d, command %d: %v\n", s.seed, first+d.at, bad)
	d.print()
	at := len(s.history) - len(batch) + d.at
	until := at + 1
	if s.unorderedNext(batch, d.at) {
		until++
	}
	history := append([]sent(nil), s.history[:until]...)
	s.close()
	if short, d := s.shrink(history, at); d != nil {
		fmt.Printf("the shortest conversation found that leads to a difference, on empty servers:\n")
		s.print(short)
		d.print()
		return
	}
	fmt.Printf("it doesn't come again when what was sent is repeated; the last commands with a common argument:\n")
	s.print(related(history[:at], bad, 20))
}

// unorderedNext reports whether the command behind the different one tells how to
// compare it.
func (s *session) unorderedNext(batch []sent, at int) bool {
	r := batch[at].rule()
	return at+1 < len(batch) && (r == hashed || r == pairs)
}

func (s *session) print(all []sent) {
	if skip := len(all) - printedMax; skip > 0 {
		fmt.Printf("  %d more\n", skip)
		all = all[skip:]
	}
	for i, c := range all {
		mark := "  "
		if i > 0 && c.batch == all[i-1].batch {
			mark = "  + " // in one write with the one above
		}
		line := c.String()
		if len(line) > shownMax {
			line = line[:shownMax] + "..."
		}
		fmt.Println(mark + line)
	}
}

func (d *difference) print() {
	fmt.Printf("redis-server: %s\n          kv: %s\n", show(d.redis), show(d.kv))
}

func show(reply []byte) string {
	if len(reply) <= shownMax {
		return fmt.Sprintf("%q", reply)
	}
	return fmt.Sprintf("%q... (%d bytes)", reply[:shownMax], len(reply))
}

// related returns the last commands that share an argument with c.
func related(history []sent, c sent, most int) (found []sent) {
	for _, one := range slices.Backward(history) {
		if len(found) == most {
			break
		}
		if one.touches(c.command) {
			found = append(found, one)
		}
	}
	slices.Reverse(found)
	return found
}

// shrink leaves out of a conversation what isn't needed for a difference, as long as
// there is time: one at a command of the name of command number at, if there is one. It
// returns nil if all of it leads to none.
func (s *session) shrink(all []sent, at int) ([]sent, *difference) {
	end := time.Now().Add(shrinkMax)
	few := append(related(all[:at], all[at], at), all[at:]...)
	name := all[at].name()
	shortest, d := s.differs(few, name)
	if d == nil {
		shortest, d = s.differs(all, name)
	}
	if d == nil {
		name = "" // it came of an earlier one, at a command that was not looked at alone
		shortest, d = s.differs(all, name)
	}
	if d == nil {
		return nil, nil
	}
	for size := (len(shortest) + 1) / 2; size > 0; {
		shorter := false
		for at := 0; at < len(shortest) && time.Now().Before(end); {
			rest := append(append([]sent(nil), shortest[:at]...), shortest[min(at+size, len(shortest)):]...)
			if rest, found := s.differs(rest, name); found != nil {
				shortest, d, shorter = rest, found, true
			} else {
				at += size
			}
		}
		if size > 1 {
			size /= 2
		} else if !shorter {
			break
		}
	}
	return shortest, d
}

// differs plays a conversation on empty servers and returns the first difference at a
// command of that name, or of any if it is empty, with the part of the conversation
// that leads to it.
func (s *session) differs(all []sent, name string) ([]sent, *difference) {
	defer s.close()
	if s.open() != nil {
		return nil, nil
	}
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].batch == all[from].batch {
			to++
		}
		found, err := s.play(all[from:to], nil)
		if err != nil {
			return nil, nil
		}
		for _, d := range found {
			if name != "" && all[from+d.at].name() != name {
				continue
			}
			end := from + d.at + 1
			if s.unorderedNext(all[from:to], d.at) {
				end++
			}
			return all[:end], &d
		}
		from = to
	}
	return nil, nil
}
