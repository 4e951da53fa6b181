package session

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
)

// Times of tests, ns.
const (
	millisecond = 1_000_000
	second      = 1000 * millisecond
)

// text writes a duty as the tests have it.
func (d Duty) text() string {
	switch d.What {
	case GiveUp:
		return "give up: " + [...]string{"unreachable", "dead", "renewed"}[d.Reason]
	case SendHello:
		return fmt.Sprintf("hello of session %d over %d.%d", d.Session, d.Track, d.Conn)
	case Correct:
		return fmt.Sprintf("correct to session %d over %d.%d", d.Session, d.Track, d.Conn)
	case Resume:
		return fmt.Sprintf("resume %d.%d at %d", d.Track, d.Conn, d.Position)
	}
	return fmt.Sprintf("%s %d.%d", [...]string{Dial: "dial", SendPing: "ping", Close: "close"}[d.What], d.Track, d.Conn)
}

// duties takes all that there are.
func duties(l *Link) string {
	var all []string
	for d := l.Next(); d.What != None; d = l.Next() {
		all = append(all, d.text())
	}
	return strings.Join(all, ", ")
}

// from is a HELLO of the other node, for track 0 of 2.
func from(incarnation, session uint64) *frame.Hello {
	return &frame.Hello{Name: []byte("b"), Incarnation: incarnation, Session: session, Tracks: 2, Position: 7}
}

// upLink returns a link of one track that is up, by a dial, over connection 1.
func upLink(t *testing.T) *Link {
	t.Helper()
	l := MakeLink(Node{"a", 1}, Node{Name: "b"}, 1, Timing{})
	l.Want(0, true, 0)
	l.Dialled(0, 1, 0)
	require.NoError(t, l.Greeted(0, 1, from(5, 1), 0))
	require.Equal(t, "dial 0.1, hello of session 1 over 0.1, resume 0.1 at 7", duties(&l))
	require.Equal(t, Up, l.State(0))
	require.Equal(t, Node{"b", 5}, l.Peer())
	return &l
}

func wakes(t *testing.T, l *Link, want int64) {
	t.Helper()
	at, ok := l.Wake()
	require.True(t, ok)
	require.Equal(t, want, at)
}

// TestDialledAtFirstUse, and again after longer and longer waits.
func TestDialledAtFirstUse(t *testing.T) {
	l := MakeLink(Node{"a", 1}, Node{Name: "b"}, 1, Timing{Patience: 100 * second})
	_, ok := l.Wake()
	require.False(t, ok)
	l.Tick(0)
	l.Want(0, false, 0)
	require.Empty(t, duties(&l))
	l.Want(0, true, 0)
	l.Want(0, true, 1)
	require.Equal(t, "dial 0.1", duties(&l))
	now := int64(1000)
	for i, wait := range []int64{50, 100, 200, 400, 800, 1600, 3000, 3000} {
		l.Failed(0, uint64(i+1), now)
		l.Failed(0, uint64(i+1), now)
		wakes(t, &l, now+wait*millisecond)
		l.Tick(now + wait*millisecond - 1)
		require.Empty(t, duties(&l))
		now += wait * millisecond
		l.Tick(now)
		require.Equal(t, fmt.Sprintf("dial 0.%d", i+2), duties(&l))
	}
	h := from(1, 1)
	l.Dialled(0, 9, now)
	require.NoError(t, l.Greeted(0, 9, h, now))
	l.Lost(0, 9, now)
	duties(&l)
	wakes(t, &l, now+3*second) // nothing came behind HELLO: the other end may refuse what it says
	now += 3 * second
	l.Tick(now)
	l.Dialled(0, 10, now)
	require.NoError(t, l.Greeted(0, 10, h, now))
	l.Heard(0, 10, now)
	l.Lost(0, 10, now)
	duties(&l)
	wakes(t, &l, now+50*millisecond) // it was good: the waits begin again
	l.Want(0, false, now)
	_, ok = l.Wake()
	require.False(t, ok)
	l.Tick(now + second)
	require.Empty(t, duties(&l))
}

// TestSilence: a PING each second, and the end after three, whatever is wanted.
func TestSilence(t *testing.T) {
	l := upLink(t)
	wakes(t, l, second)
	l.Tick(second - 1)
	require.Empty(t, duties(l))
	l.Tick(second)
	require.Equal(t, "ping 0.1", duties(l))
	wakes(t, l, 2*second)
	l.Heard(0, 1, 2*second-1)
	l.Heard(0, 99, 5*second)
	l.Tick(2 * second)
	require.Empty(t, duties(l))
	wakes(t, l, 3*second-1)
	l.Tick(3*second - 1)
	l.Tick(4*second - 1)
	require.Equal(t, "ping 0.1, ping 0.1", duties(l))
	l.Tick(5*second - 2)
	require.Empty(t, duties(l))
	l.Tick(5*second - 1)
	require.Equal(t, "close 0.1", duties(l))
	require.Equal(t, Down, l.State(0))
	l.Tick(5*second - 1 + 50*millisecond)
	l.Dialled(0, 2, 6*second)
	require.Equal(t, "dial 0.2, hello of session 1 over 0.2", duties(l))
	wakes(t, l, 9*second)
	l.Tick(9*second - 1)
	require.Equal(t, Greeting, l.State(0))
	l.Tick(9 * second)
	require.Equal(t, "close 0.2", duties(l))
}

// TestResetBetweenPings: the end isn't as late as the next PING.
func TestResetBetweenPings(t *testing.T) {
	l := upLink(t)
	l.timing.Silence = 2 * second
	wakes(t, l, 2*second)
	l.Tick(2 * second)
	require.Equal(t, "ping 0.1", duties(l))
	wakes(t, l, 3*second)
	l.Tick(3 * second)
	require.Equal(t, "close 0.1", duties(l))
}

// TestUnused closes a connection, and leaves its session.
func TestUnused(t *testing.T) {
	l := upLink(t)
	l.Want(0, false, 10*second)
	l.Used(20 * second)
	l.Heard(0, 1, 320*second-1)
	l.Tick(320*second - 1)
	require.Empty(t, duties(l))
	wakes(t, l, 320*second)
	l.Tick(320 * second)
	require.Equal(t, "close 0.1", duties(l))
	_, ok := l.Wake()
	require.False(t, ok)
	l.Want(0, true, 900*second)
	require.Empty(t, l.giveUps())
	require.Equal(t, "dial 0.2", duties(l))
	require.EqualValues(t, 1, l.Session())

	l = upLink(t)
	l.Want(0, false, 10*second)
	l.Heard(0, 1, 310*second)
	l.Tick(310*second - 1)
	require.Empty(t, duties(l))
	l.Tick(310 * second)
	require.Equal(t, "close 0.1", duties(l))

	l = upLink(t)
	l.Heard(0, 1, 1000*second)
	l.Tick(1000 * second)
	require.Empty(t, duties(l), "it is wanted: a watch stands")
}

// giveUps is the reasons among the duties that are left.
func (l *Link) giveUps() (all []Reason) {
	for _, d := range l.duties[l.done:] {
		if d.What == GiveUp {
			all = append(all, d.Reason)
		}
	}
	return all
}

// upTracks returns a link of so many tracks, whose other end may have two; of these 0 is up, over
// connection 1, and 1 is being dialled.
func upTracks(t *testing.T, most int) *Link {
	t.Helper()
	l := MakeLink(Node{"a", 1}, Node{Name: "b"}, most, Timing{})
	require.Equal(t, 1, l.Tracks())
	l.Want(0, true, 0)
	l.Dialled(0, 1, 0)
	require.NoError(t, l.Greeted(0, 1, from(5, 1), 0))
	require.Equal(t, min(2, most), l.Tracks())
	duties(&l)
	l.Tick(0)
	require.Equal(t, "dial 1.2", duties(&l))
	return &l
}

// TestTracks: there are as many as the end has that allows fewer. While one is up the others are
// dialled, though nobody here wants them; they are closed together.
func TestTracks(t *testing.T) {
	second1 := from(5, 1)
	second1.Track = 1
	for most := 2; most <= 4; most++ {
		l := upTracks(t, most)
		l.Dialled(1, 2, 0)
		require.NoError(t, l.Greeted(1, 2, second1, 0))
		require.Equal(t, "hello of session 1 over 1.2, resume 1.2 at 7", duties(l))
		l.Tick(0)
		require.Empty(t, duties(l))
		l.Want(0, false, 0)
		l.Heard(0, 1, 0)
		l.Lost(0, 1, second)
		l.Tick(second)
		require.Equal(t, "ping 1.2", duties(l))
		wakes(t, l, 2*second) // not at once: the other end may close all
		l.Want(1, true, second)
		wakes(t, l, second+50*millisecond)
		l.Want(1, false, second)
		l.Tick(2*second - 1)
		require.Empty(t, duties(l))
		l.Tick(2 * second)
		require.Equal(t, "dial 0.3, ping 1.2", duties(l))
		l.Dialled(0, 3, 2*second)
		require.NoError(t, l.Greeted(0, 3, from(5, 1), 2*second))
		duties(l)
		l.Used(20 * second)
		l.Heard(0, 3, 320*second-1)
		l.Heard(1, 2, 320*second-1)
		l.Tick(320*second - 1)
		require.Empty(t, duties(l))
		wakes(t, l, 320*second)
		l.Tick(320 * second)
		require.Equal(t, "close 0.3, close 1.2", duties(l))
		_, ok := l.Wake()
		require.False(t, ok)
		l.Want(1, true, 900*second)
		require.Equal(t, "dial 0.4", duties(l))
		require.Equal(t, 2, l.Tracks())
		l.Died(5)
		require.Equal(t, 1, l.Tracks(), "its next life may have fewer")
	}

	// One that isn't up yet is closed with the others, and none is dialled any more.
	l := upTracks(t, 3)
	l.Want(0, false, 0)
	l.Heard(0, 1, 300*second)
	l.Tick(300 * second)
	require.Equal(t, "close 0.1, close 1.2", duties(l))
	_, ok := l.Wake()
	require.False(t, ok)

	// Nor is one that was lost shortly before.
	l = upTracks(t, 2)
	l.Dialled(1, 2, 0)
	require.NoError(t, l.Greeted(1, 2, second1, 0))
	l.Want(0, false, 0)
	l.Heard(1, 2, 299*second)
	l.Lost(0, 1, 299*second)
	duties(l)
	l.Tick(300 * second)
	require.Equal(t, "close 1.2", duties(l))

	// Their number is that of the session.
	l = upTracks(t, 3)
	more := *second1
	more.Tracks = 3
	l.Dialled(1, 2, 0)
	require.Equal(t, ErrTracks, l.Greeted(1, 2, &more, 0))
	_, err := l.Accepted(&more, 0)
	require.Equal(t, ErrTracks, err)
	more.Tracks, more.Session = 5, 2
	_, err = l.Accepted(&more, 0)
	require.NoError(t, err)
	require.Equal(t, 3, l.Tracks())

	// Who has accepted the first one waits for the others, for a while.
	by := MakeLink(Node{"a", 1}, Node{Name: "b"}, 2, Timing{})
	_, err = by.Accepted(from(5, 1), second)
	require.NoError(t, err)
	require.Equal(t, "hello of session 1 over 0.1, resume 0.1 at 7", duties(&by))
	wakes(t, &by, second+50*millisecond)
	conn, err := by.Accepted(second1, second)
	require.NoError(t, err)
	require.EqualValues(t, 2, conn)
	wakes(t, &by, 2*second)
}

// TestPatience: it ends with the first track that was wanted for so long without a connection; the
// number of the session is used up if a HELLO had come.
func TestPatience(t *testing.T) {
	l := upTracks(t, 2)
	l.Want(1, true, 10*second)
	l.Lost(0, 1, 15*second)
	l.Want(1, true, 16*second) // once more: that is no news
	require.Equal(t, "dial 0.3", duties(l))
	l.Failed(1, 2, 20*second)
	l.Failed(0, 3, 39*second)
	require.Empty(t, duties(l), "track 0 goes first")
	l.Tick(40*second - 1)
	require.Equal(t, "dial 0.4", duties(l))
	wakes(t, l, 40*second)
	l.Tick(40 * second)
	require.Equal(t, "close 0.4, give up: unreachable", duties(l))
	require.EqualValues(t, 2, l.Session())
	_, ok := l.Wake()
	require.False(t, ok)
	conn, err := l.Accepted(from(5, 1), 41*second)
	require.Equal(t, ErrSession, err)
	require.Equal(t, fmt.Sprintf("correct to session 2 over 0.%d, close 0.%[1]d", conn), duties(l))

	l.Want(0, true, 50*second)
	l.Tick(80 * second)
	require.Equal(t, "dial 0.6, close 0.6, give up: unreachable", duties(l))
	require.EqualValues(t, 2, l.Session(), "nothing has happened in it")
	conn, err = l.Accepted(from(5, 2), 81*second)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("hello of session 2 over 0.%d, resume 0.%[1]d at 7", conn), duties(l))
}

// TestHellosThatAreRefused: each leaves all as it was, but for the connection that it came over.
func TestHellosThatAreRefused(t *testing.T) {
	with := func(change func(h *frame.Hello)) *frame.Hello {
		h := from(5, 1)
		change(h)
		return h
	}
	for _, test := range []struct {
		h    *frame.Hello
		want error
	}{
		{with(func(h *frame.Hello) { h.Name = []byte("c") }), ErrName},
		{with(func(h *frame.Hello) { h.Name = []byte("a") }), ErrName},
		{with(func(h *frame.Hello) { h.Track = 1 }), ErrTrack},
		{with(func(h *frame.Hello) { h.Tracks, h.Track = 64, 63 }), ErrTrack},
		{with(func(h *frame.Hello) { h.Incarnation = 4 }), ErrIncarnation},
		{with(func(h *frame.Hello) { h.Incarnation = 4; h.Session = 9 }), ErrIncarnation},
		{with(func(h *frame.Hello) { h.Session = sessionMax + 1 }), ErrSession},
		{with(func(h *frame.Hello) { h.Session = math.MaxUint64; h.Incarnation = 6 }), ErrSession},
		{from(5, 1), ErrTaken},
	} {
		l := upLink(t)
		before := l.tracks[0]
		conn, err := l.Accepted(test.h, second)
		require.Equal(t, test.want, err)
		require.Zero(t, conn)
		require.Empty(t, duties(l))
		require.Equal(t, before, l.tracks[0])

		if test.want == ErrTaken {
			continue
		}
		l.Lost(0, 1, second)
		l.Tick(2 * second)
		l.Dialled(0, 2, 2*second)
		duties(l)
		require.Equal(t, test.want, l.Greeted(0, 2, test.h, 2*second))
		require.Equal(t, "close 0.2", duties(l))
		require.Equal(t, Down, l.State(0))
		require.EqualValues(t, 1, l.Session())
		require.Equal(t, Node{"b", 5}, l.Peer())
	}
	l := upTracks(t, 2)
	l.Dialled(1, 2, 0)
	duties(l)
	require.Equal(t, ErrTrack, l.Greeted(1, 2, from(5, 1), 0))
	require.Equal(t, "close 1.2", duties(l))
}

// TestLaterLivesAndSessions end the session that there is.
func TestLaterLivesAndSessions(t *testing.T) {
	for _, test := range []struct {
		h    *frame.Hello
		want string
	}{
		{from(6, 1), "dead"}, {from(6, 8), "dead"}, {from(5, 2), "renewed"}, {from(5, sessionMax), "renewed"},
	} {
		l := upLink(t)
		conn, err := l.Accepted(test.h, second)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("close 0.1, give up: %s, hello of session %d over 0.%d, resume 0.%[3]d at 7", test.want, test.h.Session, conn), duties(l))
		require.Equal(t, test.h.Incarnation, l.Peer().Incarnation)

		// the same over a connection that was dialled: its HELLO was for the session that is over
		l = upLink(t)
		l.Lost(0, 1, second)
		l.Tick(2 * second)
		l.Dialled(0, 2, 2*second)
		duties(l)
		require.NoError(t, l.Greeted(0, 2, test.h, 2*second))
		require.Equal(t, "close 0.2, give up: "+test.want, duties(l))
		require.Equal(t, test.h.Session, l.Session())
		require.Equal(t, test.h.Incarnation, l.Peer().Incarnation)
	}
	// nothing has happened in session 1: no reason to give it up
	l := MakeLink(Node{"a", 1}, Node{Name: "b"}, 2, Timing{})
	l.Want(0, true, 0)
	l.Dialled(0, 1, 0)
	duties(&l)
	require.NoError(t, l.Greeted(0, 1, from(5, 3), 0))
	require.Equal(t, "close 0.1, dial 0.2", duties(&l))
	l.Dialled(0, 2, 0)
	require.Equal(t, "hello of session 3 over 0.2", duties(&l))
	require.NoError(t, l.Greeted(0, 2, from(5, 3), 0))
	require.Equal(t, "resume 0.2 at 7", duties(&l))
}

// TestLaterLifeThanWasMeant: what is to be sent is for the one before, though no HELLO has come.
func TestLaterLifeThanWasMeant(t *testing.T) {
	l := MakeLink(Node{"a", 1}, Node{"b", 5}, 2, Timing{})
	l.Want(0, true, 0)
	l.Dialled(0, 1, 0)
	duties(&l)
	require.NoError(t, l.Greeted(0, 1, from(6, 1), 0))
	require.Equal(t, "close 0.1, give up: dead", duties(&l))
	_, wakes := l.Wake()
	require.False(t, wakes, "who was meant is wanted no more")
}

// TestDeadByView: the session is over, and that life is refused.
func TestDeadByView(t *testing.T) {
	l := upLink(t)
	l.Died(4)
	require.Empty(t, duties(l))
	l.Died(5)
	l.Died(5)
	require.Equal(t, "close 0.1, give up: dead", duties(l))
	_, err := l.Accepted(from(5, 2), 0)
	require.Equal(t, ErrIncarnation, err)
	conn, err := l.Accepted(from(6, 1), 0)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("hello of session 1 over 0.%d, resume 0.%[1]d at 7", conn), duties(l))
	l.Died(8)
	require.Equal(t, fmt.Sprintf("close 0.%d, give up: dead", conn), duties(l))
	l.Died(9)
	_, err = l.Accepted(from(9, 1), 0)
	require.Equal(t, ErrIncarnation, err, "a later one may be dead, too")
}

// TestWhatComesTooLate of connections that are over changes nothing.
func TestWhatComesTooLate(t *testing.T) {
	l := upLink(t)
	before := l.tracks[0]
	l.Dialled(0, 1, 9)
	l.Dialled(0, 2, 9)
	l.Failed(0, 1, 9)
	l.Lost(0, 2, 9)
	l.Heard(0, 2, 9)
	require.NoError(t, l.Greeted(0, 1, from(5, 1), 9))
	require.NoError(t, l.Greeted(0, 2, from(9, 9), 9))
	require.Equal(t, before, l.tracks[0])
	require.Empty(t, duties(l))
}

// TestWhatComesOfOthers: what is told of a connection changes nothing of one that is as far.
func TestWhatComesOfOthers(t *testing.T) {
	l := MakeLink(Node{"a", 1}, Node{Name: "b"}, 1, Timing{})
	l.Want(0, true, 0)
	duties(&l)
	before := l.tracks[0]
	l.Dialled(0, 99, 9)
	l.Failed(0, 99, 9)
	require.Equal(t, before, l.tracks[0])
	l.Dialled(0, 1, 0)
	duties(&l)
	before = l.tracks[0]
	require.NoError(t, l.Greeted(0, 99, from(5, 1), 9))
	l.Lost(0, 99, 9)
	require.Equal(t, before, l.tracks[0])
	require.NoError(t, l.Greeted(0, 1, from(5, 1), 0))
	duties(&l)
	before = l.tracks[0]
	l.Broken(0, 99)
	l.Lost(0, 99, 9)
	l.Heard(0, 99, 9)
	require.Equal(t, before, l.tracks[0])
	require.Empty(t, duties(&l))
}

func TestLinksThatMakeNoSense(t *testing.T) {
	require.Panics(t, func() { MakeLink(Node{"a", 1}, Node{"a", 2}, 1, Timing{}) })
	require.Panics(t, func() { MakeLink(Node{"a", 1}, Node{"b", 2}, 0, Timing{}) })
	require.Panics(t, func() { MakeLink(Node{"a", 1}, Node{"b", 2}, frame.TracksMax+1, Timing{}) })
	for timing, ok := range map[Timing]bool{
		{Reset: -1}: false, {BackoffMax: -1}: false, {Reset: time.Second - 1}: false, {Silence: 3*time.Second + 1}: false,
		{Reset: time.Second}: true, {Silence: 3 * time.Second}: true,
	} {
		make := func() { MakeLink(Node{"a", 1}, Node{"b", 2}, 1, timing) }
		if ok {
			require.NotPanics(t, make, "%+v", timing)
		} else {
			require.Panics(t, make, "%+v", timing)
		}
	}
}

// TestBackoff: each wait is twice the one before, until it is the longest, for ever.
func TestBackoff(t *testing.T) {
	timing := Timing{BackoffMin: 2, BackoffMax: 13}
	for failures := range 1000 {
		require.Equal(t, min(2<<min(failures, 3), 13), int(timing.backoff(failures)), "%d failures", failures)
	}
}
