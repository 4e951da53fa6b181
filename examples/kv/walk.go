package main

import (
	"bytes"
	"math"
	"strconv"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
	"github.com/stackhouse-go/stackhouse/pool"
)

// A walk is a command that may look at all that a store has, and at each name for as long as a
// pattern takes: KEYS, SCAN, HSCAN. It gives the store up after walkSteps: it forwards the rest to
// the store, behind what has come meanwhile, so that it may see what that changes. A timer, or
// an ask, would go ahead: answers do. The commands behind it on its connection wait: see queue.

const (
	// walkSteps is how many steps a walk takes at once: some 30 µs.
	walkSteps = 1 << 12
	// visitSteps is for the homes that one visit of the table looks at.
	visitSteps = 10
	// pageMax is how long a page of SCAN or HSCAN may be, in bytes, for one more visit.
	pageMax = 256 << 10
)

// walkRequest is what a store does next of a walk.
type walkRequest struct {
	bytes pool.Bytes // the command
	walk  *walk      // what has been done; nil: nothing
}

// Release implements stack.Releaser.
func (r *walkRequest) Release() { r.bytes.Release() }

// walkStack is a part of a walk through one store.
type walkStack struct {
	core.AskStack[walkRequest, resp.Reply]
	walk
}

// walk is how far it has come.
type walk struct {
	cmd resp.Command
	scanOptions

	key     []byte // HSCAN: of the hash; nil: it walks through keys
	all     bool   // KEYS: to the end
	cursor  uint64
	visits  int // that are left
	steps   int // that are left of this turn
	out     []byte
	n       int         // elements in it
	pending []candidate // names that were found when no steps were left
}

// candidate is a name that may match, and its value, in memory of their own.
type candidate struct {
	glob
	value []byte
}

var storeWalk = core.Handle((*store).walk)

// walk begins a walk, or goes on with one.
func (t *store) walk(s *walkStack) core.Yield {
	if s.Req.walk != nil {
		s.walk = *s.Req.walk
		return t.walkOn(s)
	}
	t.decode(&s.cmd, s.Req.bytes.B())
	if rep, ok := t.beginWalk(s); !ok {
		return s.Return(rep)
	}
	s.out, t.scratch = t.scratch[:0], nil
	return t.walkOn(s)
}

// beginWalk reads the arguments; false: rep is the reply.
func (t *store) beginWalk(s *walkStack) (rep resp.Reply, ok bool) {
	switch cmd := &s.cmd; {
	case cmd.Is("keys"):
		s.pattern, s.all, s.visits = cmd.Arg(1), true, math.MaxInt
		return resp.Reply{}, true
	case cmd.Is("scan"):
		cursor, _ := parseCursor(cmd.Arg(1)) // its front has looked
		s.cursor = cursor / uint64(t.stores.len())
		s.scanOptions, rep, ok = parseScan(cmd, 2, true)
	default:
		if s.cursor, ok = parseCursor(cmd.Arg(2)); !ok {
			return resp.Err(errCursor), false
		}
		s.key = cmd.Arg(1)
		if kind, there := t.table.Kind(s.key, core.Now(s)); !there {
			return t.page(s), false
		} else if !kind.IsHash() {
			return resp.Err(errKind), false
		}
		s.scanOptions, rep, ok = parseScan(cmd, 3, false)
	}
	s.visits = s.count
	return rep, ok
}

// walkOn does what a walk may do at once.
func (t *store) walkOn(s *walkStack) core.Yield {
	for s.steps = walkSteps; s.visits > 0 || len(s.pending) > 0; {
		if s.steps <= 0 {
			rest := walkRequest{s.Req.bytes, new(walk)}
			*rest.walk, s.Req = s.walk, walkRequest{}
			return t.stores.walks[t.index].Forward(s, rest)
		}
		if len(s.pending) == 0 {
			if err := t.visit(s); err != nil {
				return s.Return(refused(err))
			}
		} else if first := &s.pending[0]; s.try(&first.glob, first.value) {
			s.pending = s.pending[1:]
		}
		if s.all && len(s.out) > replyMax {
			return s.Return(resp.Err(errReply))
		}
	}
	rep := t.walked(s)
	t.keep(s.out)
	return s.Return(rep)
}

// visit looks at one more entry, or a few that the table has in one place.
func (t *store) visit(s *walkStack) (err error) {
	if s.steps -= visitSteps; s.key == nil {
		s.cursor = t.table.Scan(s.cursor, 1, core.Now(s), func(key, _ []byte, kind table.Kind) {
			if s.kind == nil || resp.EqualFold(s.kind, typeName(kind)) {
				s.see(key, nil)
			}
		})
	} else {
		s.cursor, err = t.table.ScanFields(s.key, s.cursor, 1, core.Now(s), s.see)
	}
	if s.visits--; s.cursor == 0 || !s.all && len(s.out) > pageMax {
		s.visits = 0
	}
	return err
}

// see takes a name that the table has, which is valid for the call.
func (s *walk) see(name, value []byte) {
	g := newGlob(s.pattern, name)
	if len(s.pending) == 0 && s.try(&g, value) {
		return
	}
	g.text = bytes.Clone(name)
	s.pending = append(s.pending, candidate{glob: g, value: bytes.Clone(value)})
}

// try goes on with a match and appends what matches; false: there are no steps left for it.
func (s *walk) try(g *glob, value []byte) bool {
	if s.pattern != nil {
		left, done := g.run(s.steps)
		s.steps = left
		if !done || !g.matches {
			return done
		}
	}
	s.out = resp.AppendBulk(s.out, g.text)
	s.n++
	if s.key != nil {
		s.out = resp.AppendBulk(s.out, value)
		s.n++
	}
	return true
}

// walked is the reply at the end: of KEYS the keys that live here, encoded, and their number, see
// concat; of the others a page.
func (t *store) walked(s *walkStack) resp.Reply {
	if s.all {
		rep := resp.Raw(s.Copy(s.out))
		rep.Int = int64(s.n)
		return rep
	}
	if s.key == nil {
		switch stores, index := uint64(t.stores.len()), uint64(t.index); {
		case s.cursor != 0:
			s.cursor = s.cursor*stores + index
		case index+1 < stores:
			s.cursor = index + 1 // the start of the next
		}
	}
	return t.page(s)
}

// page is the reply to SCAN and HSCAN: the cursor, and what was found.
func (t *store) page(s *walkStack) resp.Reply {
	var digits [20]byte
	out := resp.AppendArray(s.Bytes(2*frameMax + len(s.out))[:0], 2)
	out = resp.AppendBulk(out, strconv.AppendUint(digits[:0], s.cursor, 10))
	out = resp.AppendArray(out, s.n)
	return resp.Raw(append(out, s.out...))
}

// keys is KEYS pattern: a walk through one store after the other.
func (f *front) keys(s *command) core.Yield { return f.keysOf(s, 0) }

func (f *front) keysOf(s *command, store int) core.Yield {
	f.askWalk(s, store, &s.parts[store])
	return core.Suspend(s, (*front).keysMore)
}

func (f *front) keysMore(s *command) core.Yield {
	store := s.Req.session.queue.at
	rep, err := s.parts[store].Get()
	if err == nil && rep.Kind != resp.KindError && store+1 < f.stores.len() {
		return f.keysOf(s, store+1)
	}
	s.release()
	switch {
	case err != nil:
		return s.fail(err)
	case rep.Kind == resp.KindError:
		return s.answer(rep)
	}
	return s.answer(f.concat(s))
}

// scan is SCAN cursor [MATCH pattern] [COUNT n] [TYPE type]. A cursor is that of a
// store's table and, in it, the store's number.
func (f *front) scan(s *command) core.Yield {
	cursor, ok := parseCursor(s.Req.Arg(1))
	if !ok {
		return s.answer(resp.Err(errCursor))
	}
	return f.walk(s, int(cursor%uint64(f.stores.len())))
}

// hscan is HSCAN key cursor [MATCH pattern] [COUNT n].
func (f *front) hscan(s *command) core.Yield { return f.walk(s, f.stores.of(s.Req.Arg(1))) }

// walk has a store do a walk.
func (f *front) walk(s *command, store int) core.Yield {
	f.askWalk(s, store, &s.reply)
	return core.Suspend(s, (*front).releasing)
}

func (f *front) askWalk(s *command, store int, answer *core.Future[resp.Reply]) {
	s.hold(store)
	s.Req.session.queue.walks = true
	f.stores.walks[store].Ask(s, answer, walkRequest{bytes: s.Keep(s.Req.Raw())})
}

// releasing is answered for a command that holds the others back.
func (f *front) releasing(s *command) core.Yield {
	s.release()
	return f.answered(s)
}
