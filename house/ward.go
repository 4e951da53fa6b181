package house

import (
	"runtime"
	"sync/atomic"
)

// Each worker has connections of its own, so that with little to do for each, each request wakes another thread. Then
// one worker is enough: the watcher, the first of a system, looks at the networks of others, its wards, and runs
// their turns with its own. What a worker is, in this respect:
//
//	alone   it watches its own network. It becomes a ward when it parks, if it has parked often lately, was idle
//	        for half of the time, and the watcher had pauses too
//	ward    while it is parked its network is the watcher's. Now and then it looks, in its sleep, at what the
//	        watcher has done meanwhile, and takes its network back if that
//	          is stuck   did nothing, and isn't parked: a step is slow. Then all wards do
//	          is full    had no pause: there may be work for two. Then one ward does
//	          is quiet   did little, for some time: then it isn't worth looking
//	        and if a step of its own was slow, by which it keeps the watcher from its network, or it is busy without
//	        a pause itself
//	trial   it is alone, because the watcher was full. Whether the two do more than the watcher did is known
//	        some time later. If they don't, as where something else needs the processor, it is a ward again
//
// What was tried in vain is tried again after pauses that grow. A ward wakes for guests, timers and other workers as
// any parked worker does, and runs its turns itself until it parks.
//
// Nobody else changes what a worker is: it does that itself, awake. The watcher is told of a ward's network by
// its own poller, and of its mail by who sends it (Worker.Calling): its side of this is in watcher.go.

type wardState uint8

const (
	alone wardState = iota
	entrusted
	trial
)

const (
	// wardsMax is how many workers have a bit among the watcher's, itself included.
	wardsMax = 64
	// wardParks, in at most wardParksIn ns, are often.
	wardParks   = 16
	wardParksIn = 8_000_000
	// wardSockets is how many descriptors a ward has at most when it becomes one: the system walks through all.
	wardSockets = 1000
	// wardLook is how often one of the wards looks, ns, and how long a step of a ward may take. Twice so long a step of the watcher
	// may keep the others' network waiting, mostly.
	wardLook = 5_000_000
	// fullLooks in a row without a pause make a full watcher.
	fullLooks = 4
	// quietLooks in a row with fewer than quietTurns of the watcher: less than any worker would become a ward for.
	quietLooks = 20
	quietTurns = 8
	// trialTime is how long a trial takes at least, ns.
	trialTime = 5_000_000
	// shyMax is for how many ends by a stuck watcher the pauses grow in which a worker stays alone: up to 1,023 times
	// wardParks parks.
	shyMax = 10
	// trialsMax is for how many trials in vain it takes longer to begin another one: up to 255 times trialLooks.
	trialsMax  = 8
	trialLooks = 4
	// trustedLooks is after how many looks a ward has done well.
	trustedLooks = 200
	// paidSkips is how often wardParks must pass behind a trial that paid until the worker may be a ward again.
	paidSkips = 32
)

// pulse is what wards see of their watcher.
type pulse struct {
	parks    atomic.Uint64 // of the watcher
	turns    atomic.Uint64 // of its own, and its parks that have ended; kept while somebody looks
	messages atomic.Uint64 // that it handled, also in wards' turns; kept while somebody looks
	looking  atomic.Int32  // wards, and those on trial
	wards    atomic.Int32
	trial    atomic.Bool   // one is on trial
	alarms   atomic.Uint32 // times that it was found to be stuck

	// By the wards, together.
	movedAt atomic.Int64  // when somebody last saw that it was resting or had made another turn; stored first, read last
	moved   atomic.Uint64 // how many turns it had made then
}

// ward is a worker's part in that; only its own goroutine touches what isn't atomic.
type ward struct {
	may     bool // it can be a ward
	state   wardState
	awakeAt int64        // since when it is awake
	slow    atomic.Bool  // the watcher sets it behind a slow turn
	alarmAt atomic.Int64 // a turn that the watcher ran has armed a timer for then; 0: none has

	// Alone.
	parks   int    // since then
	since   int64  // ns; on trial, when that began
	idle    int64  // ns, of the time since
	theirs  uint64 // the watcher's parks then; on trial, its messages
	skips   int    // how often wardParks must pass until it may be a ward again
	shy     misses // of being a ward
	handled uint64 // on trial, by itself when that began

	// A ward.
	looks     int
	lookedAt  int64
	seen      struct{ parks, turns, messages uint64 }
	alarms    uint32 // when it became one
	quiet     int    // looks in a row that found the watcher with little to do
	busy      int    // the same, without a pause
	rate      uint64 // messages a second, the best of late
	ends      bool   // it is to take its network back
	stuck     bool   // because the watcher is
	full      bool   // because the watcher has too much to do
	fullSkips int    // looks that it takes longer until the watcher is found to be full
	trials    misses
}

// wait blocks until there is something to do for the worker's own goroutine, at most for ns from now. It has no
// turn meanwhile.
func (w *Worker) wait(now, ns int64) error {
	d := &w.ward
	if d.state != entrusted {
		return w.poller.Wait(ns)
	}
	if w.poller.Ready() { // it came while others were told that this goroutine would look
		return nil
	}
	for until := now + ns; now < until; {
		next := d.lookedAt + wardLook*int64(w.system.pulse.wards.Load())
		if now >= next {
			if w.look(now) {
				return nil
			}
			continue
		}
		if woken, err := w.poller.WaitForWake(min(next, until) - now); woken || err != nil {
			d.stuck = w.dismissed()
			d.ends = d.stuck
			return err
		}
		runtime.Gosched()
		now = w.system.config.Clock()
		if at := d.alarmAt.Load(); at != 0 {
			until = min(until, at)
		}
	}
	return nil
}

// alarmLater leaves a timer that a turn has armed to the ward's next look, if it is due behind that: most are
// disarmed by then, and waking it for each would be for nothing.
func (w *Worker) alarmLater(at int64) bool {
	if at <= w.hot.Now+2*wardLook*int64(w.system.pulse.wards.Load()) {
		return false
	}
	w.ward.alarmAt.Store(at)
	return true
}

// dismissed reports whether another ward has found the watcher to be stuck, or the watcher this one to be slow.
func (w *Worker) dismissed() bool {
	return w.system.pulse.alarms.Load() != w.ward.alarms || w.ward.slow.Load()
}

// look looks at what the watcher has done since it looked last. It reports whether the worker is to take its network
// back.
func (w *Worker) look(now int64) bool {
	d, p := &w.ward, &w.system.pulse
	last := d.seen
	d.seen.parks, d.seen.turns, d.seen.messages = p.parks.Load(), p.turns.Load(), p.messages.Load()
	took := now - d.lookedAt
	d.lookedAt = now
	resting := w.system.workers[0].hot.Resting()
	moves := w.moves(now, resting)
	d.looks++
	if d.looks == 1 {
		return false // there was nothing to compare with
	}
	if d.looks%trustedLooks == 0 {
		d.shy.note(true, shyMax)
	}
	turns := d.seen.turns - last.turns
	rate := perSecond(d.seen.messages-last.messages, took)
	d.rate = max(rate, d.rate-d.rate/8)
	if turns >= quietTurns {
		d.quiet = 0
	} else {
		d.quiet++
	}
	if d.seen.parks != last.parks || resting {
		d.busy = 0
	} else {
		d.busy++
	}
	if d.stuck = !moves; d.stuck {
		w.alarm()
	}
	d.full = !d.stuck && d.busy >= fullLooks+d.fullSkips && p.trial.CompareAndSwap(false, true)
	d.ends = d.stuck || d.full || d.quiet >= quietLooks
	return d.ends
}

// moves reports whether the watcher has rested or made a turn since any ward looked that did so a while ago.
func (w *Worker) moves(now int64, resting bool) bool {
	p := &w.system.pulse
	turns := w.ward.seen.turns
	if !resting && p.moved.Load() == turns {
		return now-p.movedAt.Load() < wardLook
	}
	p.movedAt.Store(now)
	p.moved.Store(turns)
	return true
}

// alarm has all wards take their networks back.
func (w *Worker) alarm() {
	w.system.pulse.alarms.Add(1)
	for _, other := range w.system.workers {
		if other != w && other.hot.Ward.Load() {
			other.hot.Driver.Wake()
		}
	}
}

// perSecond is n in ns, a second.
func perSecond(n uint64, ns int64) uint64 { return uint64(float64(n) * 1e9 / float64(max(1, ns))) }

// heedLook takes the worker's network back if it has seen in its sleep that it should.
func (w *Worker) heedLook() {
	if d := &w.ward; d.ends {
		d.ends = false
		w.takeBack()
	}
}

// takeBack ends being a ward.
func (w *Worker) takeBack() {
	d, p := &w.ward, &w.system.pulse
	if w.poller.TakeBack() != nil { // it is tried again when there is a reason again
		if d.full {
			d.full = false
			p.trial.Store(false)
		}
		return
	}
	w.hot.Ward.Store(false)
	p.wards.Add(-1)
	if d.full {
		d.state, d.since, d.handled, d.theirs = trial, w.hot.Now, w.hot.Handled(), p.messages.Load()
		return
	}
	if d.stuck {
		d.skips = d.shy.note(false, shyMax)
	}
	w.beAlone()
}

// reconsiderWard is for who hasn't parked for a while: a trial ends, and the watcher is told of the network of a ward that is awake
// in vain.
func (w *Worker) reconsiderWard() {
	d := &w.ward
	switch {
	case d.state == trial:
		w.judgeTrial()
	case d.state == entrusted && w.hot.Now-d.awakeAt >= yieldEvery:
		d.stuck, d.full = true, false // the watcher isn't, but the pause is the same
		w.takeBack()
	}
}

// considerWard makes the worker, which is about to park, a ward if that promises to be better.
func (w *Worker) considerWard() {
	d := &w.ward
	switch {
	case !d.may || d.state == entrusted:
		return
	case d.state == trial:
		w.judgeTrial()
		return
	case w.poller.Len() == 0 || w.poller.Len() > wardSockets:
		return
	}
	if d.parks++; d.parks < wardParks {
		return
	}
	took, parks := w.hot.Now-d.since, w.system.pulse.parks.Load()-d.theirs
	if took > wardParksIn || 2*d.idle < took || parks < wardParks/4 {
		w.countParks()
		return
	}
	if d.skips > 0 {
		d.skips--
		w.countParks()
		return
	}
	w.system.pulse.looking.Add(1)
	w.entrust()
}

// judgeTrial ends a trial, if it has taken long enough.
func (w *Worker) judgeTrial() {
	d, p := &w.ward, &w.system.pulse
	took := w.hot.Now - d.since
	if took < trialTime {
		return
	}
	did := w.hot.Handled() - d.handled + p.messages.Load() - d.theirs
	paid := perSecond(did, took) > d.rate+d.rate/8
	d.fullSkips = trialLooks * d.trials.note(paid, trialsMax)
	p.trial.Store(false)
	if paid {
		d.skips = paidSkips
		w.beAlone()
		return
	}
	w.entrust()
}

// beAlone ends all interest in the watcher.
func (w *Worker) beAlone() {
	w.ward.state = alone
	w.system.pulse.looking.Add(-1)
	w.countParks()
}

// countParks begins to count parks.
func (w *Worker) countParks() {
	d := &w.ward
	d.parks, d.since, d.idle, d.theirs = 0, w.hot.Now, 0, w.system.pulse.parks.Load()
}

// entrust makes the worker a ward, which looks already.
func (w *Worker) entrust() {
	d, p := &w.ward, &w.system.pulse
	if err := w.poller.Entrust(); err != nil { // the system has no room for more
		d.may = false
		w.beAlone()
		return
	}
	d.state, d.looks, d.quiet, d.rate = entrusted, 0, 0, 0
	d.busy, d.stuck, d.full = 0, false, false
	d.lookedAt, d.alarms = w.hot.Now, p.alarms.Load()
	d.slow.Store(false)
	p.movedAt.Store(w.hot.Now)
	p.wards.Add(1)
	w.hot.Ward.Store(true)
}
