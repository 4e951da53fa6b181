package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// errDifferent is the end of a run that found a difference; it is printed already.
var errDifferent = errors.New("the servers differ")

// batchMax is how many commands go in one write; weakMax if some connections have no
// rights: security updates of Redis close one that has long replies to be sent.
const (
	batchMax = 64
	weakMax  = 16
)

// historyMax is how many commands are kept to find what led to a difference.
const historyMax = 50_000

// run sends o.n commands, and reports the first difference.
func run(o options) error {
	s := &session{options: o, generator: newGenerator(o)}
	if s.total == 0 {
		return errors.New("no command is left")
	}
	began := time.Now()
	if err := s.open(); err != nil {
		return err
	}
	defer s.close()
	counts, different := map[string]*count{}, map[string]bool{}
	for done := 0; done < o.n; {
		if s.IntN(resetEvery) == 0 {
			if err := s.reset(s.IntN(len(s.conns))); err != nil {
				return err
			}
		}
		batch := s.batch(o.n - done)
		found, err := s.play(batch, counts)
		s.remember(batch)
		if err != nil {
			s.print(batch)
			return fmt.Errorf("seed %d, in the %d commands from %d on: %w", o.seed, len(batch), done, err)
		}
		done += len(batch)
		if len(found) == 0 {
			continue
		}
		d := &found[0]
		if name := s.known(batch[d.at].command); !different[name] {
			different[name] = true
			s.report(done-len(batch), batch, d)
		}
		if !o.all {
			return errDifferent
		}
		s.close()
		if err := s.open(); err != nil {
			return err
		}
	}
	if len(different) > 0 {
		return errDifferent
	}
	took := time.Since(began)
	if o.verbose {
		printCounts(counts)
	}
	fmt.Printf("differ: %d commands on %d connections, seed %d: no difference (%.1f s, %.0f a second)\n",
		o.n, o.conns, o.seed, took.Seconds(), float64(o.n)/took.Seconds())
	return nil
}

// session is the connections and what was sent on them.
type session struct {
	options
	*generator
	conns   []pair
	history []sent // since the servers were emptied, or the last historyMax
	batches int
}

// count is how often a command was sent, and how often Redis refused it.
type count struct{ sent, refused int }

func printCounts(counts map[string]*count) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("%-12s %8d sent %8d refused\n", name, counts[name].sent, counts[name].refused)
	}
}

// resetEvery is how many batches there are, on average, between two connections that are broken.
const resetEvery = 50

// open dials all connections, and empties the servers.
func (s *session) open() error {
	s.history = s.history[:0]
	for i := range s.options.conns {
		p, err := dialPair(s.options)
		if err != nil {
			return err
		}
		s.conns = append(s.conns, p)
		if err := s.greet(i); err != nil {
			return err
		}
	}
	return s.agree(sent{command{"FLUSHALL"}, 0, 0})
}

// greet has a new connection allowed all, and every second one speak RESP3.
func (s *session) greet(i int) error {
	var batch []sent
	if s.options.pass != "" {
		batch = append(batch, sent{command{"AUTH", s.options.pass}, i, 0})
	}
	if i%2 == 1 {
		batch = append(batch, sent{command{"HELLO", "3"}, i, 0})
	}
	return s.agree(append(batch, sent{command{"PING"}, i, 0})...)
}

// agree plays a batch that both must answer alike.
func (s *session) agree(batch ...sent) error {
	found, err := s.play(batch, nil)
	for _, d := range found {
		return fmt.Errorf("%v: redis-server says %q, kv says %q", batch[d.at].command, d.redis, d.kv)
	}
	return err
}

// reset breaks a connection to both servers, and dials again.
func (s *session) reset(i int) error {
	s.conns[i].abort()
	p, err := dialPair(s.options)
	if err != nil {
		return err
	}
	s.conns[i] = p
	return s.greet(i)
}

func (s *session) close() {
	for _, p := range s.conns {
		p.close()
	}
	s.conns = nil
}

// batch makes about as many commands as are left at most, for one connection. A third
// of the batches have one command.
func (s *session) batch(most int) []sent {
	size := 1
	if !s.in(33) {
		size = 1 + s.IntN(s.batchMax())
	}
	s.batches++
	conn := s.IntN(len(s.conns))
	var all []sent
	for range min(size, most) {
		c := s.next()
		if c.name() == "RESET" && s.options.pass != "" {
			return []sent{{c, conn, s.batches}} // alone: see weakMax
		}
		all = append(all, sent{c, conn, s.batches})
		if next := follower(c); next != nil {
			all = append(all, sent{next, conn, s.batches})
		}
		if c.cursor() > 0 || len(all) >= most {
			break // a SCAN is followed to its end at once
		}
	}
	return all
}

func (s *session) batchMax() int {
	if s.options.pass != "" {
		return weakMax
	}
	return batchMax
}

// follower is the command that must come behind another one, to make replies
// comparable.
func follower(c command) command {
	switch r := c.rule(); {
	case (r == hashed || r == pairs) && len(c) == 2:
		return command{"OBJECT", "ENCODING", c[1]} // see unordered
	case c.name() == "SET" && len(c) > 4:
		// What SET lets expire in the past is counted by Redis' DBSIZE until it is looked for.
		return command{"EXISTS", c[1]}
	}
	return nil
}

// remember keeps what was sent.
func (s *session) remember(batch []sent) {
	s.history = append(s.history, batch...)
	if len(s.history) > 2*historyMax {
		s.history = append(s.history[:0], s.history[len(s.history)-historyMax:]...)
	}
}

// difference is where in a batch, and what the servers said.
type difference struct {
	at        int
	redis, kv []byte
}

// play sends a batch and returns the differences.
func (s *session) play(batch []sent, counts map[string]*count) (found []difference, err error) {
	var requests []byte
	for _, c := range batch {
		requests = resp.AppendCommand(requests, c.command...)
	}
	p := s.conns[batch[0].conn]
	redis, kv, err := p.exchange(requests, len(batch), s.wait)
	if err != nil {
		return nil, err
	}
	for i, c := range batch {
		if counts != nil {
			s.tally(counts, c.command, redis[i])
		}
		if at := c.cursor(); at > 0 && at < len(c.command) && c.command[at] == "0" && i == len(batch)-1 {
			d, err := s.follow(p, i, c.command, redis[i], kv[i])
			if d != nil {
				found = append(found, *d)
			}
			return found, err
		}
		if !same(c.command, redis[i], kv[i], s.unordered(batch, i, redis)) {
			// follow reads on
			found = append(found, difference{i, bytes.Clone(redis[i]), bytes.Clone(kv[i])})
		}
	}
	return found, nil
}

// unordered reports whether Redis keeps the hash that command i reads as a table: the
// next command asks.
func (s *session) unordered(batch []sent, i int, redis [][]byte) bool {
	return i+1 < len(batch) && slices.Equal(batch[i+1].command, follower(batch[i].command)) &&
		bytes.HasSuffix(redis[i+1], []byte("hashtable\r\n"))
}

// known is the command's name, or unknown.
func (s *session) known(c command) string {
	if slices.ContainsFunc(s.recipes, func(r recipe) bool { return r.name == c.name() }) {
		return c.name()
	}
	return unknown
}

func (s *session) tally(counts map[string]*count, c command, reply []byte) {
	name := s.known(c)
	n := counts[name]
	if n == nil {
		n = &count{}
		counts[name] = n
	}
	n.sent++
	if reply[0] == '-' {
		n.refused++
	}
}

// follow walks a SCAN to its end on both servers, which must find the same keys.
func (s *session) follow(p pair, at int, c command, redis, kv []byte) (*difference, error) {
	if redis[0] != '*' || kv[0] != '*' {
		if same(c, redis, kv, false) {
			return nil, nil
		}
		return &difference{at, redis, kv}, nil
	}
	left, err := p.redis.scan(c, redis, s.wait)
	if err != nil {
		return nil, fmt.Errorf("redis-server: %w", err)
	}
	right, err := p.kv.scan(c, kv, s.wait)
	if err != nil {
		return nil, fmt.Errorf("kv: %w", err)
	}
	if slices.Equal(left, right) {
		return nil, nil
	}
	return &difference{at, fmt.Appendf(nil, "in all %s", left), fmt.Appendf(nil, "in all %s", right)}, nil
}

// cursor is which argument of a SCAN or HSCAN is its cursor, 0 of other commands.
func (c command) cursor() int {
	return map[string]int{"SCAN": 1, "HSCAN": 2}[c.name()]
}

// pagesMax is how many pages a SCAN of our few keys may have.
const pagesMax = 10_000

// scan collects the keys of a SCAN, the pairs of an HSCAN, that has begun with that
// reply, sorted, each once.
func (c *conn) scan(cmd command, reply []byte, wait time.Duration) ([]string, error) {
	found := map[string]bool{}
	for range pagesMax {
		var v resp.Value
		resp.DecodeReply(reply, &v, resp.Limits{})
		elems := v.Elems()
		cursor, _ := elems.Next()
		keys, ok := elems.Next()
		if !ok || v.Int != 2 || cursor.Kind != resp.KindBulk || keys.Kind != resp.KindArray {
			return nil, fmt.Errorf("%v: %q isn't a cursor with keys", cmd, reply)
		}
		for _, key := range elements(keys, cmd.cursor()) {
			found[key] = true
		}
		if string(cursor.Str) == "0" {
			return slices.Sorted(maps.Keys(found)), nil
		}
		next := append(command(nil), cmd...)
		next[cmd.cursor()] = string(cursor.Str)
		replies, err := c.exchange(resp.AppendCommand(nil, next...), 1, wait)
		if err != nil {
			return nil, err
		}
		reply = replies[0]
	}
	return nil, fmt.Errorf("%v: no end after %d pages", cmd, pagesMax)
}
