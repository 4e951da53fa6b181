package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestFull: so many frames are written in pieces at a time, and so many bytes are left of them as
// one begins: one more of the longest if the one that begins may be short.
func TestFull(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	window := k.link.hub.node.config.Window
	for _, test := range []struct {
		out, left  int
		long, want bool
	}{
		{0, 0, true, false},
		{partsMax - 1, window, true, false},
		{partsMax, partsMax, true, true},
		{partsMax, partsMax, false, true},
		{1, window + 1, true, true},
		{1, window + 1, false, false},
		{1, window + frame.LongMax, false, false},
		{1, window + frame.LongMax + 1, false, true},
	} {
		k.parcels = parcels{out: make([]*parcel, test.out), left: test.left}
		require.Equal(t, test.want, k.full(test.long), "%+v", test)
	}
	k.parcels = parcels{}
}

// TestTurnsOfLongFrames: a long answer passes its turn if the last long frame that began was one,
// is being written, and a long call waits.
func TestTurnsOfLongFrames(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	long, short := []*standIn{{}, {long: true}}, []*standIn{{}, {}}
	for _, test := range []struct {
		answer       bool
		out          int
		starved, fed []*standIn
		want         bool
	}{
		{true, 1, nil, nil, true},
		{true, 1, short, short, true},
		{true, 1, long, nil, false},
		{true, 1, nil, long, false},
		{false, 1, long, long, true},
		{true, 0, long, long, true},
		{false, partsMax, nil, nil, false},
	} {
		k.parcels = parcels{out: make([]*parcel, test.out), answer: test.answer}
		k.starved, k.fed = test.starved, test.fed
		require.Equal(t, test.want, k.answersLong(), "%+v", test)
	}
	k.parcels, k.starved, k.fed = parcels{}, nil, nil
}

// TestTurnsOfAnswers: answers pass their turn if calls wait, none was taken since the last of
// these, and more than half the window is on its way.
func TestTurnsOfAnswers(t *testing.T) {
	c := newCalm(t)
	far, back := c.find(c.here, "there"), c.find(c.there, "here")
	k := c.track()
	_, err := housetest.Ask(t, c.sim, add.At(back), addReq{1})
	require.NoError(t, err)
	require.True(t, k.replied)
	c.tell(far, 0, 1)
	require.False(t, k.replied)
	c.sim.Run(5 * time.Second)
	c.cut()
	passes := func(replied bool, waiting ...*standIn) bool {
		k.replied, k.fed = replied, waiting
		defer func() { k.fed = nil }()
		return k.passes()
	}
	r := k.standIns[1]
	require.False(t, passes(true, r), "nothing is on its way")
	for window := uint64(k.link.hub.node.config.Window); k.out.Left().End-k.out.Left().Acknowledged <= window/2; {
		require.False(t, passes(true, r))
		k.append((&frame.Cancel{}).Append(nil))
	}
	require.True(t, passes(true, r))
	require.False(t, passes(false, r))
	require.False(t, passes(true))

	// So an answer waits that has room.
	k.replied = true
	r.waits()
	o := &owner{}
	k.answer(o)
	require.Zero(t, o.paid)
	k.readmit()
	k.settle()
	require.Equal(t, 1, o.paid)
}

// TestTurnsOfCalls: who waits is asked once more, those first of whom nothing was taken since the
// last time.
func TestTurnsOfCalls(t *testing.T) {
	c := newCalm(t)
	_, far := c.counters(2)
	k := c.track()
	k.round = 5
	for _, to := range far {
		c.tell(to, 0, 1)
	}
	require.EqualValues(t, 5, k.standIns[1].fed)
	one, two := k.standIns[1], k.standIns[2]
	one.fed, two.fed = k.round-1, k.round
	for range 2 {
		one.waits()
		two.waits()
		require.Equal(t, []*standIn{one}, k.starved)
		require.Equal(t, []*standIn{two}, k.fed)
	}
	k.readmit()
	require.Empty(t, k.starved)
	require.Empty(t, k.fed)
	require.False(t, one.starved || two.starved)
	two.waits() // it wasn't fed since
	require.Equal(t, []*standIn{two}, k.starved)
	k.readmit()
}

// TestRoomForEach: of two actors that are told more than the link takes, none is told twice what
// the other one is.
func TestRoomForEach(t *testing.T) {
	c := newCalm(t)
	all, far := c.counters(2)
	drop := padded(0, 50_000)
	for range 5000 {
		for _, to := range far {
			for core.Notice(tells.At(to), drop) == nil {
			}
		}
		c.sim.Turn()
		balanced(t, c.here)
		if a, b := len(all[0].told), len(all[1].told); a+b > 100 {
			require.Less(t, max(a, b), 2*min(a, b))
			return
		}
	}
	t.Fatal("too few came")
}

// TestLongAnswersThatWait: more long answers than may be written at a time all come, whatever
// waits for them to end.
func TestLongAnswersThatWait(t *testing.T) {
	c := newCrowd(t)
	port := mirrored.At(c.at(c.here, "there", "mirror"))
	var all []core.Pending[mirrorRep]
	for range 3 * partsMax {
		all = append(all, core.Begin(port, mirrorReq{Size: 100_000}))
	}
	k, waited := c.there.self.links["here"].tracks[0], 0
	for i := range all {
		for n := 0; !all[i].Ready(); n++ {
			require.Less(t, n, 5000)
			c.sim.Turn()
			balanced(t, c.there)
			waited = max(waited, len(k.parcels.behind))
			require.LessOrEqual(t, len(k.parcels.out), partsMax)
		}
		require.NoError(t, all[i].GetInto(func(rep *mirrorRep) { require.Len(t, rep.Pad, 100_000) }))
	}
	require.NotZero(t, waited)
	require.EqualValues(t, 1, c.here.self.links["there"].Session())
}

// TestAnswerThatIsShortAfterAll: one that waited as a long one, and has become short where there is
// no room, waits as such.
func TestAnswerThatIsShortAfterAll(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1)
	c.sim.Run(5 * time.Second)
	c.cut()
	k := c.there.self.links["here"].tracks[0]
	for k.tryAppend((&frame.Cancel{}).Append(nil)) {
	}
	of := c.track().methods.byName["test.mirror.sized"] // a counter doesn't handle it
	require.NoError(t, k.serve(&frame.Ask{To: 1, Method: of.number}))
	s := k.answers.pop().(*serving)
	require.ErrorIs(t, s.err, core.ErrNoHandler)
	k.parcels.behind = append(k.parcels.behind, s)
	k.settle()
	require.Empty(t, k.parcels.behind)
	require.True(t, k.answers.first == debtor(s))
}

// TestNothingIsMissing: the first session has no gap before it.
func TestNothingIsMissing(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	all, _ := c.kept()
	require.Contains(t, all, frame.KindMethod.String())
	require.NotContains(t, all, frame.KindGap.String())
}
