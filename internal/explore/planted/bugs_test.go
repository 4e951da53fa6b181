//go:build explore

package planted

// A bug is text that replaces other text of one file, which occurs there once.
type bug struct {
	name     string
	file     string // below root
	protocol string // the scenario of TestExplore that must fail
	edits    [][2]string
}

var bugs = []bug{
	{"no look after declaring parked", "stack/send_inbox.go", "inbox", [][2]string{
		{"	return !w.Pending()\n", "	return true\n"}}},
	{"look before declaring parked", "stack/send_inbox.go", "inbox", [][2]string{
		{"	w.turn.Park()\n", "	invariant.Point(\"park.early\")\n	pending := w.Pending()\n	w.turn.Park()\n"},
		{"	return !w.Pending()\n", "	return !pending\n"}}},
	{"ring before push", "stack/send_inbox.go", "inbox", [][2]string{
		{"	h.push(s, s)\n", ""},
		{"	return h.ring()\n}\n\n// post is Stack.post", "	w := h.ring()\n	h.push(s, s)\n	return w\n}\n\n// post is Stack.post"}}},
	{"ring only if the inbox was empty", "stack/send_inbox.go", "inbox", [][2]string{
		{"	h.push(s, s)\n", "	invariant.Point(\"inbox.empty\")\n	empty := h.inbox.Load() == nil\n	h.push(s, s)\n	if !empty {\n		return nil\n	}\n"}}},
	{"push by a store", "stack/send_inbox.go", "inbox", [][2]string{
		{"		if h.inbox.CompareAndSwap(old, newest) {\n			return\n		}\n", "		h.inbox.Store(newest)\n		return\n"}}},
	{"a refused forward keeps its relay", "stack/send_forward.go", "forward, and left", [][2]string{
		{"	pool.Send(&r.Object)\n", ""}}},
	{"a forward that looks given up is dropped", "stack/send_forward.go", "forward, and late", [][2]string{
		{"s.cancelled.Doubtful() && s.origin().cancelled.Doubtful()", "s.cancelled.Doubtful()"}}},
	{"no wake-up", "stack/send_inbox.go", "park", [][2]string{
		{"	if woken {\n		w.Driver.Wake()\n	}\n	return woken\n", "	return false && woken\n"}}},
	{"wake-up by a store", "stack/turn/turn.go", "borrow or wake", [][2]string{
		{"	return t.holder.CompareAndSwap(parked, run)\n", "	t.holder.Store(run)\n	return true\n"}}},
	{"an end that doesn't wait for what is kept", "stack/send_end.go", "job kept", [][2]string{
		{"		h.life().Keep()\n", ""}}},
	{"a job that doesn't hold its asker", "stack/send_lend.go", "job that reads", [][2]string{
		{"	s.holdIn(to, shard)\n", ""}}},
	{"rung cleared behind the drain", "stack/send_inbox.go", "inbox", [][2]string{
		{"			invariant.Point(\"inbox.clear\")\n			h.flags.Clear(flags.Rung)\n", ""},
		{"			w.makeReady(h)\n		} else {", "			w.makeReady(h)\n			invariant.Point(\"inbox.clear\")\n			h.flags.Clear(flags.Rung)\n		} else {"}}},
	{"rungNext read after the bit is clear", "stack/send_inbox.go", "rungs", [][2]string{
		{"		next := h.rungNext // read first: once the bit is clear the link is a ringer's\n", ""},
		{"			w.makeReady(h)\n		} else {", "			w.makeReady(h)\n			h = h.rungNext\n			continue\n		} else {"},
		{"			w.Count.Add(count.Forwards, 1)\n", "			next := h.rungNext\n			w.Count.Add(count.Forwards, 1)\n"},
		{"				w.wakeUp(to)\n			}\n		}\n		h = next\n", "				w.wakeUp(to)\n			}\n			h = next\n		}\n"}}},
	{"rung set without looking who did", "stack/send_inbox.go", "rungs", [][2]string{
		{"	if !h.flags.Set(flags.Rung) {\n		return nil\n	}\n	return h.pushRung()", "	h.flags.Set(flags.Rung)\n	return h.pushRung()"}}},
	{"notification not forwarded", "stack/send_inbox.go", "hand-over and back", [][2]string{
		{"			if to := h.pushRung(); to != nil {\n				w.wakeUp(to)\n			}\n", ""}}},
	{"forwarded, and the owner not woken", "stack/send_inbox.go", "hand-over and back", [][2]string{
		{"			if to := h.pushRung(); to != nil {\n				w.wakeUp(to)\n			}\n", "			h.pushRung()\n"}}},
	{"mail of another's house drained", "stack/send_inbox.go", "hand-over and back", [][2]string{
		{"		if h.owner.Load() == w {\n", "		if true {\n"}}},
	{"turn taken back while it is borrowed", "stack/turn/turn.go", "borrow", [][2]string{
		{"			if t.holder.CompareAndSwap(borrowed, wanted) {\n				return false\n", "			if t.holder.CompareAndSwap(borrowed, wanted) {\n				return true\n"}}},
	{"wanted turn given back as parked", "stack/turn/turn.go", "borrow", [][2]string{
		{"	if !more && t.holder.CompareAndSwap(borrowed, parked) {\n", "	if !more {\n		t.holder.Store(parked)\n"}}},
	{"no look after giving back", "stack/send_borrow.go", "borrow of two", [][2]string{
		{"	if w.Pending() {", "	if false {"}}},
	{"turn borrowed by a store", "stack/turn/turn.go", "borrow", [][2]string{
		{"	return t.holder.CompareAndSwap(parked, borrowed)\n", "	t.holder.Store(borrowed)\n	return true\n"}}},
	{"sent in a borrowed turn, and left for later", "stack/send_borrow.go", "send on", [][2]string{
		{", !w.turn.Own(): // its own turn is borrowed\n", ":\n"}}},
	{"assistance given up, and nobody woken", "stack/send_borrow.go", "assist", [][2]string{
		{"		w.toWake = nil\n		w.wakeUp(to)\n", "		w.toWake = nil\n"}}},
	{"guest takes no signal", "stack/send_guest.go", "call", [][2]string{
		{"		return true\n	}\n	c.cell.Take()\n	return false\n", "		return true\n	}\n	return false\n"}}},
	{"done without a swap", "stack/rendezvous/cell.go", "call", [][2]string{
		{"		if c.word.CompareAndSwap(old, done) {\n", "		if c.word.Store(done); true {\n"}}},
	{"gone without a swap", "stack/rendezvous/cell.go", "call", [][2]string{
		{"bool { return c.word.CompareAndSwap(waiting, gone) }", "bool { c.word.Store(gone); return true }"}}},
	{"wait without a swap", "stack/rendezvous/cell.go", "borrow of two", [][2]string{
		{"	return c.word.CompareAndSwap(awake, waiting)\n", "	c.word.Store(waiting)\n	return true\n"}}},
	{"own envelope joined behind other mail", "stack/send_guest_notice.go", "entries", [][2]string{
		{"	behind := last.mail != nil && h.inbox.Load() == last.mail\n", "	behind := last.mail != nil\n"}}},
	{"message counted by a store", "stack/send_guest_notice.go", "envelope", [][2]string{
		{"	return e.word.CompareAndSwap(i, i+1)\n", "	e.word.Store(i + 1)\n	return true\n"}}},
	{"envelope put while it is open", "stack/call_envelope.go", "envelope", [][2]string{
		{"	return int(e.word.Or(envelopeClosed) &^ envelopeClosed)\n", "	return int(e.word.Load() &^ envelopeClosed)\n"}}},
	{"no mark behind who leaves", "stack/send_inbox.go", "leave", [][2]string{
		{"		w.takeRungs(closedRungs)\n", "		w.takeRungs(nil)\n"}}},
	{"no second look at a closed house", "stack/send_inbox.go", "leave", [][2]string{
		{"		if h.inbox.Load() == nil {\n			return\n		}\n		invariant.Point(\"closed.bit\")\n		if !h.flags.Set(flags.Rung) {\n			return\n		}\n", "		return\n"}}},
	{"owner stored behind the push", "stack/send_handover.go", "hand-over", [][2]string{
		{"	h.owner.Store(to) // behind it only the bit, and then the link, are the giver's\n", ""},
		{"		if to.gifts.CompareAndSwap(old, h) {\n			return true\n", "		if to.gifts.CompareAndSwap(old, h) {\n			invariant.Point(\"gift.late\")\n			h.owner.Store(to)\n			return true\n"}}},
	{"made ready on its way", "stack/send_handover.go", "hand-over", [][2]string{
		{"	h.queued = queuedGift\n", "	h.queued = notQueued\n"},
		{" || h.queued != queuedGift", ""}}},
	{"outbox overtaken", "stack/send_handover.go", "hand-over", [][2]string{
		{"	if w.out.to == h {\n		w.sendOut()\n	}\n", ""}}},
	{"no wake-up for a gift", "stack/send_handover.go", "hand-over", [][2]string{
		{"	w.wakeUp(to)\n", ""}}},
	{"chain of gifts taken without a swap", "stack/send_handover.go", "two gifts", [][2]string{
		{"	for h := w.gifts.Swap(mark); h != nil; {", "	h := w.gifts.Load()\n	invariant.Point(\"gift.empty\")\n	for w.gifts.Store(mark); h != nil; {"}}},
	{"no look at gifts after declaring parked", "stack/engine.go", "two gifts", [][2]string{
		{"w.rungs.Load() != nil || w.given()", "w.rungs.Load() != nil"}}},
	{"move ended behind the push", "stack/send_handover.go", "stay", [][2]string{
		{"	h.endMove()       // before the receiver may give it on\n", ""},
		{"		if to.gifts.CompareAndSwap(old, h) {\n", "		if to.gifts.CompareAndSwap(old, h) {\n			h.endMove()\n"}}},
	{"stays without waiting for the move", "stack/send_handover.go", "stay", [][2]string{
		{"	for invariant.Await(\"stay.moves\", h, (*House).stands); !h.stands(); {\n		runtime.Gosched()\n	}\n", "	runtime.Gosched()\n"}}},
	{"gift given to who has left", "stack/send_handover.go", "hand-over to who leaves", [][2]string{
		{"		if old == closedRungs {", "		if old == closedRungs && h == nil {"}}},
	{"left without a look at gifts", "stack/send_inbox.go", "hand-over to who leaves", [][2]string{
		{"	w.takeGifts(closedRungs)\n", "	w.gifts.Store(closedRungs)\n"}}},
	{"drained before it is closed", "house/loop.go", "leave", [][2]string{
		{"	w.hot.Leave()\n	for w.Turn() {\n		w.yield()\n	}\n", "	for w.Turn() {\n		w.yield()\n	}\n	w.hot.Leave()\n"}}},
	{"left when there is nothing to do only", "house/loop.go", "leave", [][2]string{
		{"		if w.leaving.Load() { //", "		if !busy && w.leaving.Load() { //"}}},
	{"refused, and counted all the same", "stack/send_room.go", "full", [][2]string{
		{"		h.count(-1) // others came first\n", ""}}},
	{"refused, and nobody is told of the place", "stack/send_room.go", "room, and refused", [][2]string{
		{"		h.count(-1) // others came first\n", "		h.flags.Add(-1)\n"}}},
	{"place reserved without a second look", "stack/send_room.go", "full", [][2]string{
		{"	if !h.takes(h.flags.Add(1), 0) {", "	if h.flags.Add(1) == 0 {"}}},
	{"waits for room, and nobody is told", "stack/send_room.go", "room", [][2]string{
		{"	h.flags.Set(flags.Awaited)\n	h.admit()\n", "	h.admit()\n	h.flags.Set(flags.Awaited)\n"}}},
	{"signal of who gave up left in its call", "stack/send_room.go", "room, and given up", [][2]string{
		{"	if err != nil {\n		c.cell.Take()\n	}\n", ""}}},
	{"chain of who waits taken before the flag is clear", "stack/send_room.go", "room", [][2]string{
		{"	h.flags.Clear(flags.Awaited)\n", ""},
		{"	h.annex.Load().await.Finish(freeCall)\n", "	h.annex.Load().await.Finish(freeCall)\n	h.flags.Clear(flags.Awaited)\n"}}},
	{"sent to who has stopped, and counted as sent", "stack/send_room.go", "stop", [][2]string{
		{"		h.count(-1) // others came first\n		return false\n", "		h.count(-1) // others came first\n		return h.Gone()\n"}}},
	{"what leaves with its worker stays counted", "stack/send_inbox.go", "full, and left", [][2]string{
		{"		h.count(-counted)\n", ""}}},
	{"number shown twice", "stack/visit.go", "full", [][2]string{
		{"		h.count(int(h.unshown))\n		h.unshown = 0\n", "		h.count(int(h.unshown))\n"}}},
	{"oldest dropped, and still counted", "stack/send_refuse.go", "drop oldest", [][2]string{
		{"	h.unshown--\n	why := lost.Full\n", "	why := lost.Full\n"}}},
	{"nothing dropped by who takes too much", "stack/send_inbox.go", "drop oldest", [][2]string{
		{"		w.shed(h)\n", ""}}},
	{"late answer kept", "stack/visit_answer.go", "timeout", [][2]string{
		{"		w.Count.Add(count.Late, 1)\n		c.late()\n", "		w.Count.Add(count.Late, 1)\n"}}},
	{"put while it is chained", "stack/send_giveup.go", "given up, and again", [][2]string{
		{"	if !s.cancelled.Answer() {\n		pool.Send(&s.Object)\n	}\n", "	pool.Send(&s.Object)\n"}}},
	{"left to who takes it from the chain, who doesn't look", "stack/send_giveup.go", "given up, and again", [][2]string{
		{"	case !c.cancelled.Heed():\n		pool.Send(o)\n", ""}}},
	{"given up behind the ring", "stack/send_giveup.go", "given up by the first", [][2]string{
		{"		c.cancelled.Chain()\n		c.chain(w)\n", "		c.chain(w)\n		c.cancelled.Chain()\n"}}},
	{"rung for before the push", "stack/send_giveup.go", "given up", [][2]string{
		{"		*s.Link() = old\n", "		*s.Link() = old\n		if old == nil {\n			h.ringGivenUp(w)\n		}\n"},
		{"			if old == nil {\n				h.ringGivenUp(w)\n			}\n			return\n", "			return\n"}}},
	{"the rest of the chain forgotten", "stack/send_giveup.go", "given up", [][2]string{
		{"	if next != nil {\n		h.ringGivenUp(w)\n	}\n", ""}}},
	{"a guest gone before it gives up", "stack/send_guest.go", "given up, and again", [][2]string{
		{"	s.cancelled.Chain() // while the word says waiting or done the stack isn't recycled\n", ""},
		{"		s.chain(nil)\n", "		invariant.Point(\"guest.left\")\n		s.cancelled.Chain()\n		s.chain(nil)\n"}}},
	{"forwarded to nowhere", "stack/visit_step.go", "given up, forwarded", [][2]string{
		{"	first.place().Store(c.to) // behind it the first call is the other's\n", ""}}},
	{"where it is stored behind the push", "stack/visit_step.go", "given up, forwarded", [][2]string{
		{"	first.place().Store(c.to) // behind it the first call is the other's\n", ""},
		{"	w.Push(c.to, c)\n", "	to := c.to\n	w.Push(to, c)\n	invariant.Point(\"forward.late\")\n	first.place().Store(to)\n"}}},
	{"where it is looked for before it is given up", "stack/send_guest.go", "given up, forwarded", [][2]string{
		{"	invariant.Point(\"guest.cancel\")\n", "	invariant.Point(\"guest.early\")\n	was := s.place().Load()\n	invariant.Point(\"guest.cancel\")\n"},
		{"		s.chain(nil)\n", "		s.place().Store(was)\n		s.chain(nil)\n"}}},
	{"an onward call that nobody finds", "stack/send_forward.go", "given up, forwarded", [][2]string{
		{"		first.forwardTo(s)\n", ""}}},
	{"an onward call that has ended is found", "stack/send_forward.go", "forward, and late", [][2]string{
		{"		call.forwardEnded()\n", ""}}},
	{"not heard when the worker has left", "stack/send_control.go", "given up, and left", [][2]string{
		{"		heed(nil, s.to)\n", ""}}},
	{"expired promise left in the table", "stack/visit_answer.go", "timeout", [][2]string{
		{"	h.annex.Load().table.Take(p.ID, &w.Shard)\n	var err error\n", "	var err error\n"}}},
	{"earlier alarm, and the worker sleeps on", "house/worker.go", "alarm", [][2]string{
		{"	return armed && at < w.wakeAt\n", "	return armed && at < 0\n"}}},
	{"given up between two looks", "stack/call_offload.go", "job given up", [][2]string{
		{"	if s.cancelled.Doubtful() { // perhaps before f was there\n		s.tellGivenUp()\n	}\n", ""}}},
	{"told twice that it was given up", "stack/giveup/hook.go", "job given up", [][2]string{
		{"h.f.Swap(nil); f != nil", "h.f.Load(); f != nil"}}},
	{"away, and nobody hears that it was given up", "stack/send_giveup.go", "away", [][2]string{
		{"			r.Forget(h, s)\n", ""}}},
	{"away, and not ended by who gives it up", "stack/visit_away.go", "away, and given up", [][2]string{
		{"		s.goAway()\n", ""}}},
	{"served for who has given up, and kept", "stack/visit_away.go", "away", [][2]string{
		{".Answered(c)\n", ".Answered(c) || c.id != 0\n"}}},
	{"vanished before anybody knows why", "stack/visit_away.go", "away, and lost", [][2]string{
		{"		h.annex.Load().rules.loss = err\n		w.stop(h)\n", "		w.stop(h)\n		h.annex.Load().rules.loss = err\n"}}},
	{"held while it is readmitted", "stack/visit_away.go", "away, and held", [][2]string{
		{"{ w.release(h, heldByLink) }", "{ h.why &^= heldByLink }"}}},
	{"a row that two make", "stack/lost/tally.go", "tally", [][2]string{
		{" || r.by.Load() == by {", " {"}}},
	{"collected without a swap", "pool/shard.go", "home", [][2]string{
		{"	for o := s.in.Swap(nil); o != nil; {", "	o := s.in.Load()\n	invariant.Point(\"pool.empty\")\n	for s.in.Store(nil); o != nil; {"}}},
	{"count dropped in two halves", "pool/bytes.go", "bytes", [][2]string{
		{"		if n := b.slab.refs.Add(-1); n > 0 {", "		n := b.slab.refs.Load() - 1\n		invariant.Point(\"bytes.store\")\n		if b.slab.refs.Store(n); n > 0 {"}}},
}
