package main

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
	"github.com/stackhouse-go/stackhouse/pool"
)

// A walk is a command that only reads, and may take long: it looks at all keys of a store, at all
// fields of a hash, at many names, or matches a long pattern. After walkSteps it forwards the rest
// of itself to the store, behind the messages that have come meanwhile, whose changes it may see. A
// timer or an ask wouldn't do, as answers overtake messages. Commands behind the walk on its
// connection wait: see order.
//
// HGETALL, HKEYS and HVALS are walks if the last reply was long or there was none; commands on
// names are walks if they have more than namesMax.

const (
	// walkSteps is how many steps a walk takes in one turn: so many take as long as a few other
	// commands.
	walkSteps = 1 << 9
	// visitSteps is how many steps one visit counts as: a look at one place of the table, or for
	// one name.
	visitSteps = 10
	// walkTime is how long a walk may take: the more work the store has besides, the longer it
	// takes.
	walkTime = 30 * time.Second
	// namesMax is how many arguments a command on names may have without becoming a walk.
	namesMax = 128
	// pageMax is the length, in bytes, above which a page of SCAN or HSCAN ends.
	pageMax = 256 << 10
)

// walkRequest is a walk, or the rest of one, for a store to go on with.
type walkRequest struct {
	bytes   pool.Bytes // the command
	version resp.Version
	begun   bool
	walk    walk // how far it is
}

// Release implements stack.Releaser.
func (r *walkRequest) Release() { r.bytes.Release() }

// walkStack is one turn of a walk at one store.
type walkStack struct {
	core.AskStack[walkRequest, resp.Reply]
}

// walk is how far a walk is.
type walk struct {
	cmd  resp.Command
	kind *walkKind
	scanOptions

	key     []byte // whose fields it walks through; nil: it walks through keys
	names   resp.Args
	cursor  uint64
	hash    uint64 // the identity of the hash
	slots   int    // places of the hash, or of the table
	visits  int    // left
	steps   int    // left in this turn
	out     []byte
	n       int         // elements in out
	pending []candidate // found when no steps were left
}

// walkKind is how a command walks.
type walkKind struct {
	name string
	// false: rep is the reply
	begin         func(t *store, s *walkStack, w *walk) (rep resp.Reply, ok bool)
	visit         func(t *store, s *walkStack, w *walk) error
	end           func(t *store, s *walkStack, w *walk) resp.Reply
	fields, texts bool // the names of fields, their values
	most          int  // how long the reply may be, in bytes; 0: the walk ends at pageMax
}

// walkKinds are in no order, as few commands are looked up here.
var walkKinds = []walkKind{
	{name: "keys", begin: (*store).beginKeys, visit: (*store).visitKeys, end: (*store).endPart, fields: true, most: replyMax},
	{name: "scan", begin: (*store).beginScan, visit: (*store).visitKeys, end: (*store).endScan, fields: true},
	{name: "hscan", begin: (*store).beginHScan, visit: (*store).visitFields, end: (*store).page, fields: true, texts: true},
	{name: "hgetall", begin: (*store).beginFields, visit: (*store).visitFields, end: (*store).endMap, fields: true, texts: true, most: math.MaxInt32},
	{name: "hkeys", begin: (*store).beginFields, visit: (*store).visitFields, end: (*store).endArray, fields: true, most: math.MaxInt32},
	{name: "hvals", begin: (*store).beginFields, visit: (*store).visitFields, end: (*store).endArray, texts: true, most: math.MaxInt32},
	{name: "hmget", begin: (*store).beginFieldNames, visit: (*store).lookUpField, end: (*store).endArray, most: replyMax},
	{name: "hrandfield", begin: (*store).beginRandom, visit: (*store).pickField, end: (*store).endRandom, most: replyMax},
	{name: "mget", begin: (*store).beginNames, visit: (*store).lookUp, end: (*store).endPart, most: replyMax},
	{name: "exists", begin: (*store).beginNames, visit: (*store).count, end: (*store).endPart, most: replyMax},
	{name: "touch", begin: (*store).beginNames, visit: (*store).count, end: (*store).endPart, most: replyMax},
}

// candidate is a name that may match, and its value, both copied.
type candidate struct {
	glob
	value []byte
}

var storeWalk = core.Handle((*store).walk)

// walk begins a walk, or goes on with one.
func (t *store) walk(s *walkStack) core.Yield {
	w := &s.Req.walk
	if !s.Req.begun {
		s.Req.begun = true
		t.decode(&w.cmd, s.Req.bytes.B())
		w.kind = kindOf(&w.cmd)
		if rep, ok := w.kind.begin(t, s, w); !ok {
			return s.Return(rep)
		}
		w.out, t.scratch = t.scratch[:0], nil
	}
	return t.walkOn(s, w)
}

func kindOf(cmd *resp.Command) *walkKind {
	i := slices.IndexFunc(walkKinds, func(k walkKind) bool { return cmd.Is(k.name) })
	return &walkKinds[i]
}

// again reports whether a walk through a whole hash or table must begin anew: with fewer places
// than before it would see some elements twice; and the hash may be another one now.
func (t *store) again(s *walkStack, w *walk) bool {
	hash, slots := w.hash, w.slots
	if w.key == nil {
		w.slots = t.table.Slots()
	} else {
		w.hash, w.slots = t.table.FieldSlots(w.key, core.Now(s))
	}
	return w.hash != hash || w.slots < slots
}

func (t *store) beginKeys(s *walkStack, w *walk) (rep resp.Reply, ok bool) {
	w.pattern, w.visits = w.cmd.Arg(1), math.MaxInt
	return rep, true
}

func (t *store) beginScan(s *walkStack, w *walk) (rep resp.Reply, ok bool) {
	cursor, _ := parseCursor(w.cmd.Arg(1)) // the front has checked it
	w.cursor = cursor / uint64(t.stores.len())
	w.scanOptions, rep, ok = parseScan(&w.cmd, 2, true)
	w.visits = w.count
	return rep, ok
}

func (t *store) beginHScan(s *walkStack, w *walk) (rep resp.Reply, ok bool) {
	if w.cursor, ok = parseCursor(w.cmd.Arg(2)); !ok {
		return resp.Err(errCursor), false
	}
	w.key = w.cmd.Arg(1)
	if kind, there := t.table.Kind(w.key, core.Now(s)); !there {
		w.cursor = 0
		return t.page(s, w), false
	} else if !kind.IsHash() {
		return resp.Err(errKind), false
	}
	w.scanOptions, rep, ok = parseScan(&w.cmd, 3, false)
	w.visits = w.count
	return rep, ok
}

func (t *store) beginFields(s *walkStack, w *walk) (rep resp.Reply, ok bool) {
	w.key, w.visits = w.cmd.Arg(1), math.MaxInt
	return rep, true
}

func (t *store) beginFieldNames(s *walkStack, w *walk) (rep resp.Reply, ok bool) {
	w.key, w.names = w.cmd.Arg(1), w.cmd.Args(2)
	w.visits = w.names.Len()
	return rep, true
}

func (t *store) beginNames(s *walkStack, w *walk) (rep resp.Reply, ok bool) {
	w.names = w.cmd.Args(1)
	w.visits = w.names.Len()
	return rep, true
}

func (t *store) beginRandom(s *walkStack, w *walk) (rep resp.Reply, ok bool) {
	count, rep, ok := parseRandom(&w.cmd)
	w.key, w.visits = w.cmd.Arg(1), int(min(-count, math.MaxInt32)) // replyMax ends it first
	return rep, ok
}

// walkOn takes the steps of one turn.
func (t *store) walkOn(s *walkStack, w *walk) core.Yield {
	if w.visits == math.MaxInt && t.again(s, w) {
		w.cursor, w.out, w.n, w.pending = 0, w.out[:0], 0, nil
	}
	for w.steps = walkSteps; w.visits > 0 || len(w.pending) > 0; {
		if w.steps <= 0 {
			rest := s.Req
			s.Req = walkRequest{}
			return t.stores.walks[t.index].Forward(s, rest)
		}
		if len(w.pending) == 0 {
			w.steps -= visitSteps
			if err := w.kind.visit(t, s, w); err != nil {
				return s.Return(refused(err))
			}
		} else if first := &w.pending[0]; w.try(&first.glob, first.value) {
			w.pending = w.pending[1:]
		}
		if w.kind.most > 0 && len(w.out) > w.kind.most {
			return s.Return(resp.Err(errReply))
		}
	}
	rep := w.kind.end(t, s, w)
	t.keep(w.out)
	return s.Return(rep)
}

// visitKeys looks at one more place of the table, which has one key or a few.
func (t *store) visitKeys(s *walkStack, w *walk) error {
	w.cursor = t.table.Scan(w.cursor, 1, core.Now(s), func(key, _ []byte, kind table.Kind) {
		if w.scanOptions.kind == nil || resp.EqualFold(w.scanOptions.kind, typeName(kind)) {
			w.see(key, nil)
		}
	})
	w.visited()
	return nil
}

// visitFields looks at one more place of a hash.
func (t *store) visitFields(s *walkStack, w *walk) (err error) {
	w.cursor, err = t.table.ScanFields(w.key, w.cursor, 1, core.Now(s), w.see)
	w.visited()
	return err
}

// visited counts a visit, which may be the last.
func (w *walk) visited() {
	if w.visits != math.MaxInt {
		w.visits--
	}
	if w.cursor == 0 || w.kind.most == 0 && len(w.out) > pageMax {
		w.visits = 0
	}
}

// lookUp takes the next name of a command on many keys, and adds its value if this store holds the
// key.
func (t *store) lookUp(s *walkStack, w *walk) error {
	key, _ := w.names.Next()
	w.visits--
	if t.mine(key) {
		value, found := t.table.Get(key, core.Now(s))
		w.add(s, value, found)
	}
	return nil
}

// count does what lookUp does for a command that counts keys.
func (t *store) count(s *walkStack, w *walk) error {
	key, _ := w.names.Next()
	w.visits--
	if t.mine(key) {
		if _, there := t.table.Kind(key, core.Now(s)); there {
			w.n++
		}
	}
	return nil
}

// lookUpField takes the next name of a command on many fields.
func (t *store) lookUpField(s *walkStack, w *walk) error {
	name, _ := w.names.Next()
	w.visits--
	value, found, err := t.table.Field(w.key, name, core.Now(s))
	w.add(s, value, found)
	return err
}

// pickField takes a field at random.
func (t *store) pickField(s *walkStack, w *walk) error {
	n, err := t.table.FieldCount(w.key, core.Now(s))
	if n == 0 || err != nil {
		w.visits = 0
		return err
	}
	name, value := t.table.RandomField(w.key, t.dice.roll(), core.Now(s))
	before := len(w.out)
	w.out = appendField(w.out, &w.cmd, s.Req.version, name, value)
	w.steps -= (len(w.out) - before) / bytesPerStep
	w.visits--
	w.n++
	return nil
}

// add appends a value, or nil if it wasn't found.
func (w *walk) add(s *walkStack, value []byte, found bool) {
	w.n++
	if w.steps -= len(value) / bytesPerStep; found {
		w.out = resp.AppendBulk(w.out, value)
	} else {
		w.out = s.Req.version.AppendNil(w.out)
	}
}

// bytesPerStep is how many bytes are copied in a step.
const bytesPerStep = 128

// see takes a name in the table, and its value, valid for the call.
func (w *walk) see(name, value []byte) {
	g := newGlob(w.pattern, name)
	if len(w.pending) == 0 && w.try(&g, value) {
		return
	}
	g.text = bytes.Clone(name)
	w.pending = append(w.pending, candidate{glob: g, value: bytes.Clone(value)})
}

// try goes on with a match and appends the name and value if it matches. It reports false if the
// match isn't done, as no steps are left.
func (w *walk) try(g *glob, value []byte) bool {
	if w.pattern != nil {
		left, done := g.run(w.steps)
		w.steps = left
		if !done || !g.matches {
			return done
		}
	}
	if w.kind.fields {
		w.out = resp.AppendBulk(w.out, g.text)
		w.n++
	}
	if w.kind.texts {
		w.out = resp.AppendBulk(w.out, value)
		w.n++
	}
	w.steps -= (len(g.text) + len(value)) / bytesPerStep
	return true
}

// endPart is the reply of one of several stores: its elements, encoded, and their number.
func (t *store) endPart(s *walkStack, w *walk) resp.Reply {
	rep := resp.Raw(s.Copy(w.out))
	rep.Int = int64(w.n)
	return rep
}

func (t *store) endArray(s *walkStack, w *walk) resp.Reply {
	out := resp.AppendArray(s.Bytes(frameMax + len(w.out))[:0], w.n)
	return resp.Raw(append(out, w.out...))
}

func (t *store) endRandom(s *walkStack, w *walk) resp.Reply {
	out := appendFieldsHead(s.Bytes(frameMax + len(w.out))[:0], &w.cmd, s.Req.version, w.n)
	return resp.Raw(append(out, w.out...))
}

func (t *store) endMap(s *walkStack, w *walk) resp.Reply {
	out := s.Req.version.AppendMap(s.Bytes(frameMax + len(w.out))[:0], w.n/2)
	return resp.Raw(append(out, w.out...))
}

// endScan is the reply to SCAN. Its cursor tells in which store the next call goes on.
func (t *store) endScan(s *walkStack, w *walk) resp.Reply {
	switch stores, index := uint64(t.stores.len()), uint64(t.index); {
	case w.cursor != 0:
		w.cursor = w.cursor*stores + index
	case index+1 < stores:
		w.cursor = index + 1 // the start of the next store
	}
	return t.page(s, w)
}

// page is the reply to SCAN and HSCAN: the cursor, and what was found.
func (t *store) page(s *walkStack, w *walk) resp.Reply {
	var digits [20]byte
	out := resp.AppendArray(s.Bytes(2*frameMax + len(w.out))[:0], 2)
	out = resp.AppendBulk(out, strconv.AppendUint(digits[:0], w.cursor, 10))
	out = resp.AppendArray(out, w.n)
	return resp.Raw(append(out, w.out...))
}

// keys is KEYS pattern: a walk through one store after the other.
func (f *front) keys(s *command) core.Yield {
	f.askWalk(s, s.at, &s.parts[s.at])
	return core.Suspend(s, (*front).keysMore)
}

func (f *front) keysMore(s *command) core.Yield {
	switch rep, err := s.parts[s.at].Get(); {
	case err != nil:
		return s.fail(err)
	case rep.Kind == resp.KindError:
		return s.answer(rep)
	}
	if s.at++; s.at < f.stores.len() {
		return f.keys(s)
	}
	return s.answer(f.concat(s))
}

// scan is SCAN cursor [MATCH pattern] [COUNT n] [TYPE type]. A cursor is that of a store's table,
// times the number of stores, plus the store's number.
func (f *front) scan(s *command) core.Yield {
	cursor, ok := parseCursor(s.Req.Arg(1))
	if !ok {
		return s.answer(resp.Err(errCursor))
	}
	return f.walkOne(s, int(cursor%uint64(f.stores.len())))
}

// hscan is HSCAN key cursor [MATCH pattern] [COUNT n].
func (f *front) hscan(s *command) core.Yield { return f.walkOne(s, f.stores.of(s.Req.Arg(1))) }

// isLong reports whether a command is to be a walk: because it has many names, asks for many random
// fields, or reads all of a hash while the last reply of its connection was long, or there was
// none.
func (c *session) isLong(e *entry, cmd *resp.Command) bool {
	switch {
	case e.traits&walks == 0:
		return false
	case e.traits&whole != 0:
		return c.width == 1
	case e.traits&picks != 0:
		count, _, ok := parseRandom(cmd)
		return ok && count < -namesMax
	}
	return cmd.Len() > namesMax
}

// walk has the store of the key walk, or all stores, whose replies are then put together.
func (f *front) walk(s *command) core.Yield {
	if !s.entry.ofAll(&s.Req.Command) {
		return f.walkOne(s, f.stores.of(s.Req.Arg(1)))
	}
	for i := range f.stores.walks {
		f.askWalk(s, i, &s.parts[i])
	}
	return core.Suspend(s, (*front).merged)
}

// walkOne has one store do a walk.
func (f *front) walkOne(s *command, store int) core.Yield {
	f.askWalk(s, store, &s.reply)
	return core.Suspend(s, (*front).answered)
}

func (f *front) askWalk(s *command, store int, answer *core.Future[resp.Reply]) {
	s.epoch = s.Req.session.order.epoch
	f.stores.walks[store].AskWithin(s, answer, walkRequest{bytes: s.Keep(s.Req.Raw()), version: s.version}, walkTime)
}
