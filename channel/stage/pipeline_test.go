package stage_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/pool"
)

// ends notes what comes out of a pipeline.
type ends struct {
	up, down []byte
	shard    pool.Shard
}

func (e *ends) Up(p []byte)   { e.up = append(e.up, p...) }
func (e *ends) Down(p []byte) { e.down = append(e.down, p...) }

func (e *ends) Bytes(n int) pool.Bytes { return e.shard.Bytes(n) }

// marks is a Stage that sends a mark before each byte, and "!" at the end.
type marks struct {
	mark   byte
	marked bool // the mark of the next byte has come
}

var errMark = errors.New("another mark")

func (m *marks) Receive(f *stage.Flow, p []byte) error {
	for i, c := range p {
		switch {
		case m.marked:
			f.Up(p[i : i+1])
		case c == '!':
			return io.EOF
		case c != m.mark:
			return errMark
		}
		m.marked = !m.marked
	}
	return nil
}

func (m *marks) ReceiveEnd(f *stage.Flow) error {
	if m.marked {
		return io.ErrUnexpectedEOF
	}
	f.Up([]byte{m.mark, '?'})
	return nil
}

func (m *marks) Send(f *stage.Flow, p []byte) error {
	for _, c := range p {
		f.Down([]byte{m.mark, c})
	}
	return nil
}

func (m *marks) SendEnd(f *stage.Flow) error {
	f.Down([]byte("!"))
	return nil
}

// notes is a Stage that notes what is called.
type notes struct {
	log []string
	err error
}

func (n *notes) note(what string) error {
	n.log = append(n.log, what)
	return n.err
}

func (n *notes) Open(f *stage.Flow) error {
	f.Alarm(10)
	f.Alarm(5) // one waits
	return n.note("open")
}

func (n *notes) Tick(f *stage.Flow) error { return n.note(fmt.Sprint("tick ", f.Now())) }

func (n *notes) Moved(_ *stage.Flow, received, sent int) {
	n.note(fmt.Sprint("moved ", received, " ", sent))
}

func TestOrderOfStages(t *testing.T) {
	e := &ends{}
	n := &notes{}
	l := stage.New(e, &marks{mark: 's'}, n, &marks{mark: 'c'})
	require.NoError(t, l.Open(1))
	require.NoError(t, l.Send(2, []byte("xy")))
	require.Equal(t, "scsxscsy", string(e.down), "the first stage is at the socket")
	l.Sent(2, 8)
	require.NoError(t, l.SendEnd(3))
	require.Equal(t, "s!!", string(e.down[8:]), "the last word of the upper stage passes the lower one")

	require.NoError(t, l.Receive(4, []byte("scsxscsz")))
	require.Equal(t, "xz", string(e.up))
	require.NoError(t, l.Receive(5, []byte("sc")))
	require.NoError(t, l.Receive(6, []byte("sw!lost")))
	require.True(t, l.Ended())
	require.Equal(t, "xzwc?", string(e.up), "the stage at the codec hears of the end")

	require.EqualValues(t, 11, l.Alarm(1))
	require.NoError(t, l.Tick(10))
	require.NoError(t, l.Tick(12))
	require.Zero(t, l.Alarm(1))
	require.Equal(t, []string{"open", "moved 0 8", "moved 8 0", "moved 2 0", "moved 7 0", "tick 12"}, n.log)
}

func TestEndOfTheStream(t *testing.T) {
	e := &ends{}
	l := stage.New(e, &marks{mark: 's'}, &marks{mark: 'c'})
	require.NoError(t, l.Receive(1, []byte("scsx")))
	require.ErrorIs(t, l.ReceiveEnd(2), errMark, "the stage at the socket hands s? up, to one that waits for c")
	require.True(t, l.Ended())
	require.ErrorIs(t, l.Receive(3, []byte("sc")), errMark)
	require.ErrorIs(t, l.Send(3, []byte("x")), errMark)
	require.Empty(t, e.down, "nothing passes a pipeline that has failed")

	e = &ends{}
	l = stage.New(e, &marks{mark: 's'})
	require.NoError(t, l.ReceiveEnd(1))
	require.Equal(t, "s?", string(e.up), "what a stage has kept may come with the end")
	require.NoError(t, l.Receive(2, []byte("sx")))
	require.Equal(t, "s?", string(e.up))

	l = stage.New(&ends{}, &marks{mark: 's'})
	require.NoError(t, l.Receive(1, []byte("s")))
	require.ErrorIs(t, l.ReceiveEnd(2), io.ErrUnexpectedEOF)

	e = &ends{}
	l = stage.New(e)
	require.NoError(t, l.Receive(1, []byte("x")))
	require.NoError(t, l.Send(1, []byte("y")))
	require.NoError(t, l.SendEnd(1))
	require.NoError(t, l.ReceiveEnd(1))
	require.True(t, l.Ended())
	require.Equal(t, "x", string(e.up))
	require.Equal(t, "y", string(e.down))
}

// half is half a Receiver, and halfSender half a Sender.
type half struct{}

func (half) Receive(*stage.Flow, []byte) error { return nil }
func (half) Open(*stage.Flow) error            { return nil }

type halfSender struct{}

func (halfSender) SendEnd(*stage.Flow) error { return nil }

// early hands bytes up before its connection is open.
type early struct{}

func (early) Open(f *stage.Flow) error { f.HoldOpening(true); return nil }

func (early) Receive(f *stage.Flow, p []byte) error { f.Up(p); return nil }
func (early) ReceiveEnd(*stage.Flow) error          { return nil }

func TestErrorsOfStages(t *testing.T) {
	bad := errors.New("bad")
	second := &notes{}
	l := stage.New(&ends{}, &notes{err: bad}, second)
	require.ErrorIs(t, l.Open(1), bad)
	require.Empty(t, second.log, "nothing passes behind an error")
	require.ErrorIs(t, l.Tick(100), bad)
	const none = "stage: a %T is no Stage: it has none of the methods, or one of two"
	for _, s := range []stage.Stage{struct{}{}, half{}, halfSender{}} {
		require.PanicsWithValue(t, fmt.Sprintf(none, s), func() { stage.New(&ends{}, s) })
	}
	early := stage.New(&ends{}, early{})
	require.NoError(t, early.Open(1))
	require.Panics(t, func() { early.Receive(1, []byte("x")) })
}

// holder is a Stage that holds what its test says.
type holder struct{ flow *stage.Flow }

func (h *holder) Open(f *stage.Flow) error {
	h.flow = f
	return nil
}

func TestHolds(t *testing.T) {
	a, b := &holder{}, &holder{}
	l := stage.New(&ends{}, a, b)
	require.NoError(t, l.Open(1))
	a.flow.HoldReading(true)
	a.flow.HoldReading(true)
	b.flow.HoldReading(true)
	b.flow.HoldSending(true)
	require.True(t, l.HoldsReading())
	require.True(t, l.HoldsSending())
	a.flow.HoldReading(false)
	a.flow.HoldReading(false)
	b.flow.HoldSending(false)
	require.True(t, l.HoldsReading(), "b still holds it")
	require.False(t, l.HoldsSending())
	b.flow.HoldReading(false)
	require.False(t, l.HoldsReading())
	require.False(t, l.Closing())
	b.flow.Close()
	require.True(t, l.Closing())
}

// TestPipelinesAgree sends random bytes down through random stages, and the bytes that come out, in
// random pieces, up through the same stages.
func TestPipelinesAgree(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var mine, theirs []stage.Stage
		for range rng.IntN(4) {
			mark := byte(rng.Uint32())
			for mark == '!' {
				mark++
			}
			mine, theirs = append(mine, &marks{mark: mark}), append(theirs, &marks{mark: mark})
			if rng.IntN(2) == 0 {
				mine = append(mine, &notes{})
			}
		}
		down, up := &ends{}, &ends{}
		from, to := stage.New(down, mine...), stage.New(up, theirs...)
		var sent []byte
		for range rng.IntN(20) {
			p := make([]byte, rng.IntN(20))
			for i := range p {
				p[i] = byte(rng.Uint32())
			}
			require.NoError(t, from.Send(1, p))
			sent = append(sent, p...)
		}
		require.NoError(t, from.SendEnd(1))
		for rest := down.down; len(rest) > 0; {
			n := 1 + rng.IntN(len(rest))
			require.NoError(t, to.Receive(1, rest[:n]), "seed %d", seed)
			rest = rest[n:]
		}
		require.Equal(t, string(sent), string(up.up), "seed %d", seed)
		require.Equal(t, len(theirs) > 0, to.Ended(), "seed %d", seed)
	}
}

// failing is a Stage that hands on what is sent, and fails.
type failing struct{ err error }

func (f *failing) Send(flow *stage.Flow, p []byte) error {
	flow.Down(p)
	return f.err
}

func (f *failing) SendEnd(*stage.Flow) error { return f.err }

// TestFirstErrorStays: a stage that fails because the one below it has doesn't hide why.
func TestFirstErrorStays(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	l := stage.New(&ends{}, &failing{first}, &failing{second})
	require.Equal(t, first, l.Send(1, []byte("x")))
	require.Equal(t, first, l.SendEnd(1))
	require.Equal(t, first, l.Err())
}

// sleeper is woken, and closed.
type sleeper struct {
	wakes, closed int
	holds         bool // the opening, at first
	wake          func(f *stage.Flow) error
}

func (s *sleeper) Wake(f *stage.Flow) error {
	s.wakes++
	return s.wake(f)
}

func (s *sleeper) Closed(*stage.Flow) { s.closed++ }

func (s *sleeper) Open(f *stage.Flow) error {
	f.HoldOpening(s.holds)
	return nil
}

// TestWake: all that sleep are woken, until one fails; all are closed.
func TestWake(t *testing.T) {
	a := &sleeper{holds: true, wake: func(f *stage.Flow) error {
		f.SetSession("p", 7)
		f.HoldOpening(false)
		f.Up([]byte("up"))
		return nil
	}}
	fails := &sleeper{wake: func(*stage.Flow) error { return errors.New("woken") }}
	late := &sleeper{wake: func(*stage.Flow) error { return nil }}
	e := &ends{}
	l := stage.New(e, a, fails, late)
	require.NoError(t, l.Open(1))
	require.EqualError(t, l.Wake(2), "woken")
	require.Equal(t, "up", string(e.up))
	require.Equal(t, "p", l.Protocol())
	require.Equal(t, 7, l.Session())
	require.Panics(t, func() { a.wake(nil) })
	require.EqualError(t, l.Wake(2), "woken")
	require.Equal(t, []int{1, 1, 0}, []int{a.wakes, fails.wakes, late.wakes})
	l.Close(3)
	require.Equal(t, []int{1, 1, 1}, []int{a.closed, fails.closed, late.closed})

	// an end, as of Receive
	ended := &sleeper{wake: func(*stage.Flow) error { return io.EOF }}
	l = stage.New(&ends{}, ended)
	require.NoError(t, l.Open(1))
	require.NoError(t, l.Wake(2))
	require.NoError(t, l.Wake(2))
	require.True(t, l.Ended())
}

// TestNobodyCanWake: a stage that needs to be woken says so at once.
func TestNobodyCanWake(t *testing.T) {
	l := stage.New(&ends{}, &opener{func(f *stage.Flow) error { f.Waker(); return nil }})
	require.PanicsWithValue(t, "stage: a stage that sleeps, in a connection that nobody can wake", func() { l.Open(1) })
	l = stage.New(&ends{}, &opener{func(f *stage.Flow) error { f.SetSession("", nil); return nil }})
	require.Panics(t, func() { l.Open(1) })
}

// opener is what it does at the begin.
type opener struct{ open func(f *stage.Flow) error }

func (o *opener) Open(f *stage.Flow) error { return o.open(f) }
