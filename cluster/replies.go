package cluster

import (
	"cmp"
	"time"

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
// Keys are forgotten replyTime after their end, and earlier if there are too many: those first that
// have ended first. The marks stay; see sender.
type replies struct {
	senders map[string]*sender
	oldest  *record // done, in the order in which they ended
	newest  *record
	keys    int  // running and done
	bytes   int  // of replies
	forgot  bool // a sender, and so its mark
	keysMax int
}

// sender is one life of another node. The next one takes its place.
type sender struct {
	name    string
	life    uint64
	mark    uint64 // the highest key that was forgotten
	records map[uint64]*record
	usedAt  int64
}

// record is a key that runs or is done.
type record struct {
	of      *sender
	key     uint64
	reply   []byte // the bytes of what it has returned
	err     error  // or why it has failed
	done    bool
	endedAt int64
	next    *record    // done later
	waiting []*serving // asks to be answered at its end
}

const (
	// replyTime is for how long a reply is kept, ns.
	replyTime = int64(10 * time.Minute)
	// keysMax is how many keys are kept, of all senders.
	keysMax = 1 << 16
	// replyBytesMax is how many bytes of replies are kept, of all senders.
	replyBytesMax = 64 << 20
	// sendersMax is of how many nodes marks are kept.
	sendersMax = linksMax
)

func newReplies() replies { return replies{senders: map[string]*sender{}, keysMax: keysMax} }

// find returns the record of a key of a sender's, and whether it is new: then the caller has it
// run, and calls end or drop. again says that an earlier try may have come. Errors: core.ErrLost,
// if it may have run and isn't known any more; core.ErrOverloaded, if as many run as may.
func (b *replies) find(name string, life, key uint64, again bool, now int64) (r *record, isNew bool, err error) {
	for b.oldest != nil && now-b.oldest.endedAt >= replyTime {
		b.forget()
	}
	s := b.senders[name]
	switch {
	case s != nil && life < s.life, s == nil && again && b.forgot:
		return nil, false, core.ErrLost
	case s != nil && life == s.life:
	case s == nil && len(b.senders) >= sendersMax && !b.forgetSender():
		return nil, false, core.ErrOverloaded
	default:
		s = &sender{name: name, life: life, records: map[uint64]*record{}}
		b.senders[name] = s
	}
	s.usedAt = now
	switch r = s.records[key]; {
	case r != nil:
		return r, false, nil
	case again && key <= s.mark:
		return nil, false, core.ErrLost
	case b.keys >= b.keysMax && !b.forget():
		return nil, false, core.ErrOverloaded
	}
	r = &record{of: s, key: key}
	s.records[key] = r
	b.keys++
	return r, true, nil
}

// end notes how a key was answered.
func (b *replies) end(r *record, reply []byte, err error, now int64) {
	r.reply, r.err, r.done, r.endedAt = reply, err, true, now
	b.bytes += len(reply)
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

// drop forgets a key that doesn't run: it is as if it had not come.
func (b *replies) drop(r *record) {
	delete(r.of.records, r.key)
	b.keys--
}

// forget forgets the key that has ended first. It reports false if none has.
func (b *replies) forget() bool {
	r := b.oldest
	if r == nil {
		return false
	}
	b.oldest = r.next
	b.bytes -= len(r.reply)
	r.of.mark = max(r.of.mark, r.key)
	b.drop(r)
	return true
}

// forgetSender forgets the sender that has asked for nothing for longest, of those without keys.
func (b *replies) forgetSender() bool {
	var of *sender
	for _, s := range b.senders {
		if len(s.records) == 0 && (of == nil || cmp.Or(cmp.Compare(s.usedAt, of.usedAt), cmp.Compare(s.name, of.name)) < 0) {
			of = s
		}
	}
	if of == nil {
		return false
	}
	delete(b.senders, of.name)
	b.forgot = true
	return true
}
