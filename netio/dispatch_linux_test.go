package netio

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// batch lets the poller deliver events that no kernel sent.
func (f *fixture) batch(events ...unix.EpollEvent) int {
	f.Helper()
	f.p.at, f.p.end = 0, copy(f.p.events, events)
	return f.p.Deliver()
}

func TestDispatchReadiness(t *testing.T) {
	f := newFixture(t, batchMax)
	a, _ := f.pair()
	h := new(recorder)
	tok := f.add(a, h)
	for _, c := range []struct {
		events uint32
		want   Ready
	}{
		{unix.EPOLLIN, Readable},
		{unix.EPOLLOUT, Writable},
		{unix.EPOLLHUP, Closed},
		{unix.EPOLLRDHUP, Closed},
		{unix.EPOLLERR, Closed},
		{unix.EPOLLIN | unix.EPOLLOUT, Readable | Writable},
		{unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLHUP, Readable | Closed},
		{unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLERR, Readable | Writable | Closed},
	} {
		h.seen = nil
		require.Equal(t, 1, f.batch(event(c.events, tok)))
		require.Equal(t, []Ready{c.want}, h.seen, "events %#x", c.events)
	}
}

func TestDispatchRepeatedEvents(t *testing.T) {
	f := newFixture(t, batchMax)
	a, _ := f.pair()
	h := new(recorder)
	tok := f.add(a, h)
	require.Equal(t, 3, f.batch(event(unix.EPOLLIN, tok), event(unix.EPOLLOUT, tok), event(unix.EPOLLIN, tok)))
	require.Equal(t, []Ready{Readable, Writable, Readable}, h.seen)
}

func TestDispatchStaleTokens(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	require.NoError(t, f.p.Remove(f.add(a, h), a))
	tok := f.add(a, h) // the slot's second life
	require.Equal(t, 1, f.batch(
		event(unix.EPOLLIN, tokenOf(tok.slot(), tok.generation()-1)),
		event(unix.EPOLLIN, tokenOf(tok.slot(), tok.generation()+1)),
		event(unix.EPOLLIN, tokenOf(tok.slot()+1, tok.generation())), // free
		event(unix.EPOLLIN, tokenOf(1<<30, 1)),                       // beyond the table
		event(unix.EPOLLIN, wakeToken),
		event(unix.EPOLLIN, tok),
	))
	require.Equal(t, []Ready{Readable}, h.seen)
	require.Equal(t, uint64(4), f.p.Stale())

	require.ErrorIs(t, f.p.Remove(tokenOf(tok.slot(), tok.generation()+1), a), ErrStale)
	require.ErrorIs(t, f.p.Remove(tok, b), ErrStale)
	require.ErrorIs(t, f.p.Remove(0, a), ErrStale)
	require.NoError(t, f.p.Remove(tok, a))
	require.ErrorIs(t, f.p.Remove(tok, a), ErrStale)
}

func TestDispatchHandlerRemovesAnother(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	var second Token
	h2 := new(recorder)
	h1 := &recorder{then: func(Ready) { require.NoError(t, f.p.Remove(second, b)) }}
	first := f.add(a, h1)
	second = f.add(b, h2)
	require.Equal(t, 1, f.batch(event(unix.EPOLLIN, first), event(unix.EPOLLIN, second)))
	require.Empty(t, h2.seen)
	require.Equal(t, uint64(1), f.p.Stale())
	require.Equal(t, 1, f.p.Len())
}

func TestDispatchSlotWithNewOwner(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	var old, reused Token
	next := new(recorder)
	h := &recorder{then: func(Ready) {
		require.NoError(t, f.p.Remove(old, a))
		reused = f.add(b, next)
	}}
	old = f.add(a, h)
	require.Equal(t, 1, f.batch(event(unix.EPOLLIN, old), event(unix.EPOLLIN, old)))
	require.Equal(t, old.slot(), reused.slot())
	require.NotEqual(t, old, reused)
	require.Len(t, h.seen, 1)
	require.Empty(t, next.seen, "the new owner of the slot got its predecessor's event")
	require.Equal(t, uint64(1), f.p.Stale())
	require.Equal(t, 1, f.batch(event(unix.EPOLLIN, reused)))
}

// The table moves while a handler of the batch runs.
func TestDispatchHandlerGrowsTable(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	var more []Token
	h := &recorder{then: func(Ready) {
		for range 3 * slotsMin {
			more = append(more, f.p.slots.take(-1, new(recorder)))
		}
	}}
	first := f.add(a, h)
	last := new(recorder)
	second := f.add(b, last)
	require.Equal(t, 2, f.batch(event(unix.EPOLLIN, first), event(unix.EPOLLOUT, second)))
	require.Equal(t, []Ready{Writable}, last.seen)
	require.Equal(t, 2+len(more), f.p.Len())
}

func TestDispatchGoesOnAfterPanic(t *testing.T) {
	for _, next := range []func(p *Poller) (int, error){
		(*Poller).Poll,
		func(p *Poller) (int, error) { return p.Deliver(), nil },
		func(p *Poller) (int, error) { // waiting first changes nothing, and does not wait
			err := p.Wait(-1)
			return p.Deliver(), err
		},
	} {
		f := newFixture(t, batchMax)
		a, b := f.pair()
		bad := &recorder{then: func(Ready) { panic("bug") }}
		good := new(recorder)
		first, second := f.add(a, bad), f.add(b, good)
		require.PanicsWithValue(t, "bug", func() {
			f.batch(event(unix.EPOLLIN, first), event(unix.EPOLLIN, second))
		})
		require.Empty(t, good.seen)
		n, err := next(f.p)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, []Ready{Readable}, good.seen)
		require.Len(t, bad.seen, 1)
	}
}

func TestDispatchHandlerPolls(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	inner := 0
	outer := &recorder{}
	outer.then = func(Ready) { outer.then = nil; inner = f.poll() }
	last := new(recorder)
	first, second := f.add(a, outer), f.add(b, last)
	require.Equal(t, 1, f.batch(event(unix.EPOLLIN, first), event(unix.EPOLLIN, second)))
	require.Equal(t, 1, inner)
	require.Equal(t, []Ready{Readable}, last.seen)
}

func TestDispatchHandlerCloses(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	closer := &recorder{then: func(Ready) { require.NoError(t, f.p.Close()) }}
	last := new(recorder)
	first, second := f.add(a, closer), f.add(b, last)
	require.Equal(t, 1, f.batch(event(unix.EPOLLIN, first), event(unix.EPOLLIN, second)))
	require.Empty(t, last.seen)
}
