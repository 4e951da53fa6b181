package cluster

import (
	"cmp"
	"time"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
)

// replies are the keyed asks of other nodes that have come, and how they were answered: one that
// comes again is answered as before, and doesn't run again. A key is
//
//	unknown    it runs: at its first try, or if no earlier one came
//	running    who asks again waits
//	done       who asks again is answered at once
//	forgotten  at or below its sender's mark, and without a record. A first try runs, as the sender
//	           says that nothing of it has left before; who asks again is answered core.ErrLost
//
// Keys are forgotten replyTime after their end, as the next ask finds out, and earlier if there are
// too many: those first that have ended first. The marks stay. Of a sender that is forgotten, too,
// nothing runs at or below any mark: all new senders begin with the highest one.
type replies struct {
	senders map[string]*sender
	oldest  *record // done, in the order in which they ended
	newest  *record
	keys    int    // running and done
	bytes   int    // of replies
	mark    uint64 // the highest one of a sender that was forgotten
	keysMax int
}

// sender is one life of another node. The next one takes its place. As long as it has keys, it
// isn't forgotten.
type sender struct {
	name    string
	life    uint64
	mark    uint64 // the highest key that was forgotten
	running *int   // keys of the node's, in all of its lives
	records map[uint64]*record
	usedAt  int64
}

// record is a key that runs or is done.
type record struct {
	of      *sender
	key     uint64
	reply   []byte      // the bytes of what it has returned
	fail    *frame.Fail // or why it has failed
	done    bool
	endedAt int64
	next    *record  // done later
	waiting *serving // the ask to be answered at its end
}

const (
	// replyTime is for how long a reply is kept, ns.
	replyTime = int64(10 * time.Minute)
	// keysMax is how many keys are kept, of all senders.
	keysMax = 1 << 16
	// runningPart is which part of them may run for one node.
	runningPart = 8
	// replyBytesMax is how many bytes of replies are kept, of all senders.
	replyBytesMax = 64 << 20
	// sendersMax is of how many nodes marks are kept.
	sendersMax = linksMax
)

func newReplies() replies { return replies{senders: map[string]*sender{}, keysMax: keysMax} }

// find returns the record of a key of a sender's, and whether it is new: then the caller has it
// run, and calls begun, and end in the end, or drop. again says that an earlier try may have come.
// Errors: core.ErrLost, if it may have run and isn't known any more; core.ErrOverloaded, if as many
// run as may.
func (b *replies) find(name string, life, key uint64, again bool, now int64) (r *record, isNew bool, err error) {
	for b.oldest != nil && now-b.oldest.endedAt >= replyTime {
		b.forget()
	}
	s := b.senders[name]
	switch {
	case s == nil && again && key <= b.mark:
		return nil, false, core.ErrLost
	case s == nil && len(b.senders) >= sendersMax && !b.forgetSender():
		return nil, false, core.ErrOverloaded
	case s == nil:
		s = &sender{name: name, life: life, mark: b.mark, running: new(int), records: map[uint64]*record{}}
		b.senders[name] = s
	case life < s.life:
		return nil, false, core.ErrLost
	case life > s.life:
		s = &sender{name: name, life: life, mark: b.mark, running: s.running, records: map[uint64]*record{}}
		b.senders[name] = s
	}
	s.usedAt = now
	switch r = s.records[key]; {
	case r != nil:
		return r, false, nil
	case again && key <= s.mark:
		return nil, false, core.ErrLost
	case b.keys >= b.keysMax && b.oldest == nil, *s.running >= max(1, b.keysMax/runningPart):
		return nil, false, core.ErrOverloaded
	}
	r = &record{of: s, key: key}
	s.records[key] = r
	*s.running++
	b.keys++
	return r, true, nil
}

// begun makes room for the key that was found new, and runs.
func (b *replies) begun() {
	if b.keys > b.keysMax {
		b.forget()
	}
}

// end notes how a key was answered.
func (b *replies) end(r *record, reply []byte, fail *frame.Fail, now int64) {
	r.reply, r.fail, r.done, r.endedAt = reply, fail, true, now
	*r.of.running--
	b.bytes += r.size()
	if b.oldest == nil {
		b.oldest = r
	} else {
		b.newest.next = r
	}
	b.newest = r
	for b.bytes > replyBytesMax {
		b.forget()
	}
}

// size is how many bytes the reply takes.
func (r *record) size() int {
	if r.fail != nil {
		return len(r.fail.Text) + len(r.fail.Name)
	}
	return len(r.reply)
}

// drop forgets a key that doesn't run: it is as if it had not come.
func (b *replies) drop(r *record) {
	*r.of.running--
	b.remove(r)
}

func (b *replies) remove(r *record) {
	delete(r.of.records, r.key)
	b.keys--
}

// forget forgets the key that has ended first. It reports false if none has.
func (b *replies) forget() bool {
	r := b.oldest
	if r == nil {
		return false
	}
	b.oldest, r.next = r.next, nil // who still waits to be answered keeps this one alone
	b.bytes -= r.size()
	r.of.mark = max(r.of.mark, r.key)
	b.remove(r)
	return true
}

// forgetSender forgets the sender that has asked for nothing for longest, of those without keys.
func (b *replies) forgetSender() bool {
	var of *sender
	for _, s := range b.senders {
		if len(s.records) == 0 && *s.running == 0 && (of == nil || cmp.Or(cmp.Compare(s.usedAt, of.usedAt), cmp.Compare(s.name, of.name)) < 0) {
			of = s
		}
	}
	if of == nil {
		return false
	}
	delete(b.senders, of.name)
	b.mark = max(b.mark, of.mark)
	return true
}
