package netio

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// told is an event for a handler.
type told struct {
	token Token
	ready Ready
}

// batch lets the poller deliver events that nobody sent.
func (f *fixture) batch(all ...told) int {
	f.Helper()
	f.fetched(all)
	return f.p.Deliver()
}

func TestDispatchRepeatedEvents(t *testing.T) {
	f := newFixture(t, batchMax)
	a, _ := f.pair()
	h := new(recorder)
	tok := f.add(a, h)
	require.Equal(t, 3, f.batch(told{tok, Readable}, told{tok, Writable}, told{tok, Readable}))
	require.Equal(t, []Ready{Readable, Writable, Readable}, h.seen)
}

func TestDispatchStaleTokens(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	require.NoError(t, f.p.Remove(f.add(a, h), a))
	tok := f.add(a, h) // the slot's second life
	require.Equal(t, 1, f.batch(
		told{tokenOf(tok.slot(), tok.generation()-1), Readable},
		told{tokenOf(tok.slot(), tok.generation()+1), Readable},
		told{tokenOf(tok.slot()+1, tok.generation()), Readable}, // free
		told{tokenOf(1<<30, 1), Readable},                       // beyond the table
		told{tok, Readable},
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
	require.Equal(t, 1, f.batch(told{first, Readable}, told{second, Readable}))
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
	require.Equal(t, 1, f.batch(told{old, Readable}, told{old, Readable}))
	require.Equal(t, old.slot(), reused.slot())
	require.NotEqual(t, old, reused)
	require.Len(t, h.seen, 1)
	require.Empty(t, next.seen, "the new owner of the slot got its predecessor's event")
	require.Equal(t, uint64(1), f.p.Stale())
	require.Equal(t, 1, f.batch(told{reused, Readable}))
}

// The table grows while a handler of the batch runs.
func TestDispatchHandlerGrowsTable(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	var more []Token
	h := &recorder{then: func(Ready) {
		for range 3 * chunkSlots {
			more = append(more, f.p.slots.take(-1, new(recorder)))
		}
	}}
	first := f.add(a, h)
	last := new(recorder)
	second := f.add(b, last)
	require.Equal(t, 2, f.batch(told{first, Readable}, told{second, Writable}))
	require.Equal(t, []Ready{Writable}, last.seen)
	require.Equal(t, 2+len(more), f.p.Len())
}

func TestDispatchGoesOnAfterPanic(t *testing.T) {
	for _, next := range []func(p *Poller) (int, error){
		(*Poller).Poll,
		func(p *Poller) (int, error) { return p.Deliver(), nil },
	} {
		f := newFixture(t, batchMax)
		a, b := f.pair()
		bad := &recorder{then: func(Ready) { panic("bug") }}
		good := new(recorder)
		first, second := f.add(a, bad), f.add(b, good)
		require.PanicsWithValue(t, "bug", func() {
			f.batch(told{first, Readable}, told{second, Readable})
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
	require.Equal(t, 1, f.batch(told{first, Readable}, told{second, Readable}))
	require.Equal(t, 1, inner)
	require.Equal(t, []Ready{Readable}, last.seen)
}

func TestDispatchHandlerCloses(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	closer := &recorder{then: func(Ready) { require.NoError(t, f.p.Close()) }}
	last := new(recorder)
	first, second := f.add(a, closer), f.add(b, last)
	require.Equal(t, 1, f.batch(told{first, Readable}, told{second, Readable}))
	require.Empty(t, last.seen)
}
