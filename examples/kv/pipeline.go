package main

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Several commands in a row that are each for the store of one key are one request, a pipeline.
// The front asks each store once, for its share of the commands; the answer is the replies,
// encoded, in order. (If they are long it asks again: see order.) So one stack, one promise and, if
// the store is another worker's, one crossing serve many commands.
//
// A command stands alone if the front does it, if it is for several stores, or if it is long; see
// front.begin. So does one with no other such command beside it.

const (
	// pipelineMax is how many commands one request has at most: as many as redis-benchmark and most
	// clients send at once, and few enough for other connections to have their turn.
	pipelineMax = 16
	// pipelineBytes is how long they are together, in bytes, at most: place.end is a uint16.
	pipelineBytes = math.MaxUint16
)

// pipeline is the commands of one request.
type pipeline struct {
	n      int // commands; 0: there is no pipeline
	places [pipelineMax]place
}

// start is where command i begins.
func (p *pipeline) start(i int) uint16 {
	if i == 0 {
		return 0
	}
	return p.places[i-1].end
}

// place is where one command of a pipeline is, and which it is.
type place struct {
	end   uint16 // in the pipeline's bytes; the command begins at the end before
	entry uint8  // in commands
	store uint8
}

// width is how many commands the next pipeline of a connection may have. The reply to a pipeline
// must not be large: it is copied, it waits in memory for the client, and other connections wait
// while it is made. So width begins with 1; short replies double it, long ones halve it or make it
// 1 again.
type width int

// shortReplies is the length, in bytes, below which the replies to a request double the width.
// Above four times that they halve it: so most replies fit into slabs that have a home.
const shortReplies = pool.SlabMax / 8

// longReplies is the length, in bytes, above which the replies to a request make the width 1, and
// their store puts off later requests: as many bytes as a connection may have unsent before it
// isn't read.
const longReplies = 128 << 10

// adapt notes that the replies to a request had size bytes.
func (w *width) adapt(size int) {
	switch {
	case size > longReplies:
		*w = 1
	case size > 4*shortReplies:
		*w = max(1, *w/2)
	case size < shortReplies:
		*w = min(pipelineMax, *w*2)
	}
}

// share is a set of the commands of a pipeline: bit i is for command i.
type share uint16

func (s share) has(i int) bool { return s>>i&1 != 0 }

// first is the first command of a share, which must have one.
func (s share) first() int { return bits.TrailingZeros16(uint16(s)) }

// rest is the share without its first command.
func (s share) rest() share { return s & (s - 1) }

// decodePipeline makes a pipeline of the command in req, which took n bytes of in, and of those
// behind it. It returns how many bytes the pipeline takes; 0 if the command stands alone.
func (c *codec) decodePipeline(in []byte, n int, req *inbound) int {
	most := int(c.session.width)
	if most == 1 || !c.place(&req.pipeline, &req.Command, n) {
		return 0
	}
	var next resp.Command
	for end := n; req.pipeline.n < most && end < len(in); end += n {
		// A command that isn't taken is decoded again, as the first of its request.
		var err error
		if n, err = c.decode(in[end:], &next); n == 0 || err != nil || !c.place(&req.pipeline, &next, end+n) {
			break
		}
	}
	if req.pipeline.n == 1 {
		req.pipeline = pipeline{}
		return 0
	}
	end := int(req.pipeline.places[req.pipeline.n-1].end)
	req.bytes = in[:end:end]
	return end
}

// place adds a command that ends at end, or reports false if it can't be in a pipeline.
func (c *codec) place(p *pipeline, cmd *resp.Command, end int) bool {
	if cmd.Len() == 0 || end > pipelineBytes {
		return false
	}
	i := number(cmd.Arg(0))
	if i < 0 || !commands[i].ofOneStore(cmd.Len()) {
		return false
	}
	p.places[p.n] = place{end: uint16(end), entry: uint8(i), store: uint8(c.stores.of(cmd.Arg(1)))}
	p.n++
	return true
}

// ofOneStore reports whether a command of n arguments is done, in one step, by the store of its
// first key, whatever the other arguments are.
func (e *entry) ofOneStore(n int) bool {
	return e.do != nil && (e.merge == nil || e.sums && n == 2) && e.takes(n) && (e.traits&walks == 0 || n <= namesMax && e.traits&picks == 0)
}

// beginAll does a pipeline when its turn has come.
func (f *front) beginAll(s *command) core.Yield {
	c, p := s.Req.session, &s.Req.pipeline
	s.version = c.version
	switch {
	case c.mute:
		s.muted = 1<<pipelineMax - 1
	case c.skip:
		s.muted = 1
	}
	c.skip = false
	full := f.stores.memory.full()
	for i, at := range p.places[:p.n] {
		if !c.authenticated || full && commands[at.entry].traits&grows != 0 {
			s.refused |= 1 << i
			continue
		}
		s.left[at.store] |= 1 << i
	}
	s.refusal = errMemory
	if !c.authenticated {
		s.refusal = errNoAuth
	}
	return f.askShares(s)
}

// askShares asks each store for the commands that it hasn't done, unless replies of that store are
// still to be sent.
func (f *front) askShares(s *command) core.Yield {
	c, p := s.Req.session, &s.Req.pipeline
	s.epoch, s.asked = c.order.epoch, 0
	for i, left := range s.left[:f.stores.len()] {
		if left == 0 || s.kept(i) > 0 {
			continue
		}
		f.stores.ports[i].Ask(s, &s.parts[i], request{pipeline: *p, share: left, bytes: s.Keep(s.Req.bytes), version: s.version,
			cuts: &c.cuts, epoch: s.epoch})
		s.asked |= 1 << i
	}
	if s.asked == 0 {
		return f.answeredAll(s)
	}
	return core.Suspend(s, (*front).answeredAll)
}

// kept is how many replies of a store wait to be sent.
func (s *command) kept(store int) int {
	if !s.parts[store].Ready() {
		return 0
	}
	rep, err := s.parts[store].Get()
	if err != nil {
		return 0 // all that the store hadn't done fails: no command is left
	}
	return max(0, int(rep.Int)) - int(s.taken[store])
}

// answeredAll brings the replies of all stores into the order of their commands. If one is missing,
// as its store has put the command off, the replies before it are sent as a part, and then the
// store is asked again.
func (f *front) answeredAll(s *command) core.Yield {
	p := &s.Req.pipeline
	var from [storesMax]replies
	size := p.n * errorMax
	for i := range from[:f.stores.len()] {
		if s.parts[i].Ready() {
			from[i] = repliesOf(s.parts[i].Get())
			s.note(i, &from[i])
			size += len(from[i].data)
		}
	}
	if s.epoch == s.Req.session.order.epoch { // no store has cut
		s.Req.session.width.adapt(size - p.n*errorMax)
	}
	if first := &from[p.places[0].store]; len(first.lengths) == p.n*lengthBytes && s.muted == 0 {
		return s.Return(resp.Raw(first.data)) // one store has done all commands
	}
	if size > math.MaxInt32 { // the replies of each store are shorter, but not all together
		return s.Throw(errLong)
	}
	out := s.Bytes(size)[:0]
	sent := s.next
	for ; s.next < p.n; s.next++ {
		at := p.places[s.next]
		if s.left[at.store].has(s.next) {
			return s.part(resp.Part(out, s.next-sent), (*front).askShares)
		}
		before := len(out)
		if s.refused.has(s.next) {
			out = resp.AppendError(out, s.refusal)
		} else {
			out = from[at.store].appendNext(out)
			s.taken[at.store]++
		}
		if s.muted.has(s.next) {
			out = out[:before]
		}
	}
	return s.Return(resp.Raw(out))
}

// note notes which commands a store has done, if it was asked last. Otherwise it skips the replies
// of that store that are sent already.
func (s *command) note(store int, r *replies) {
	if !s.asked.has(store) {
		for range s.taken[store] {
			r.next()
		}
		return
	}
	s.taken[store] = 0
	left := &s.left[store]
	if r.failed != "" {
		*left = 0
	}
	for range len(r.lengths) / lengthBytes {
		*left = left.rest()
	}
	if *left != 0 || len(r.data) > longReplies {
		s.cut()
	}
}

var errLong = errors.New(errReply)

// errorMax is more than the length, in bytes, of any error that isn't a store's.
const errorMax = 128

// replies are a store's answer to its share of a pipeline.
type replies struct {
	lengths []byte // of each reply, in 4 bytes
	data    []byte // the replies, one behind the other
	failed  string // why there are no replies; "": there are
}

const lengthBytes = 4

// noLengths is room for the lengths of a whole pipeline.
var noLengths [pipelineMax * lengthBytes]byte

// repliesOf reads what doShare has written.
func repliesOf(rep resp.Reply, err error) replies {
	if err != nil {
		return replies{failed: failure(err)}
	}
	n := lengthBytes * max(0, int(rep.Int))
	return replies{lengths: rep.Str[:n], data: rep.Str[n:]}
}

func (r *replies) appendNext(out []byte) []byte {
	if r.failed != "" {
		return resp.AppendError(out, r.failed)
	}
	return append(out, r.next()...)
}

// next takes the next reply.
func (r *replies) next() (reply []byte) {
	if r.failed != "" {
		return nil
	}
	n := binary.LittleEndian.Uint32(r.lengths)
	reply, r.lengths, r.data = r.data[:n], r.lengths[lengthBytes:], r.data[n:]
	return reply
}

// doShare does a store's share of a pipeline in one step: no other message comes between. After a
// long reply it puts off the rest.
func (t *store) doShare(s *storeStack) resp.Reply {
	p := &s.Req.pipeline
	n := t.lookAhead(s)
	out := append(t.replies[:0], noLengths[:n*lengthBytes]...)
	k, size := 0, 0
	for left := s.Req.share; left != 0 && size <= longReplies; left = left.rest() {
		s.cmd = &t.commands[k]
		rep := commands[p.places[left.first()].entry].do(t, s)
		rep.Version = s.Req.version
		before := len(out)
		out = resp.AppendReply(out, &rep)
		binary.LittleEndian.PutUint32(out[k*lengthBytes:], uint32(len(out)-before))
		size += len(out) - before
		k++
	}
	t.forget(n)
	t.cut(&s.Req, size)
	if t.replies = out; cap(out) > scratchMax {
		t.replies = nil
	}
	all := s.Bytes(k*lengthBytes + size)
	copy(all[copy(all, out[:k*lengthBytes]):], out[n*lengthBytes:])
	rep := resp.Raw(all)
	rep.Int = int64(k)
	return rep
}

// lookAhead decodes the commands of a share and returns their number. It fetches the memory that
// all of them will look at, so that the processor waits for it once, not once a command.
func (t *store) lookAhead(s *storeStack) (n int) {
	p, in := &s.Req.pipeline, s.Req.bytes.B()
	for left := s.Req.share; left != 0; left = left.rest() {
		cmd := &t.commands[n]
		t.decode(cmd, in[p.start(left.first()):p.places[left.first()].end])
		t.hashes[n] = t.table.FetchSlot(cmd.Arg(1))
		n++
	}
	for _, h := range t.hashes[:n] {
		t.table.FetchEntry(h)
	}
	return n
}
