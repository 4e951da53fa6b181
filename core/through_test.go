package core_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

var errUnseen = errors.New("refused by who looks at it")

// TestThroughBeforeAll: a function looks at a message before anything is done for it: also if
// nobody is there to get it.
func TestThroughBeforeAll(t *testing.T) {
	sim := stage(t, 1, 2)
	var nobody core.Group[clerk]
	seen := 0
	look := func(n numbered) (numbered, error) { seen++; return n, errUnseen }
	_, a := cast(sim, 0)
	for name, p := range map[string]core.Port[numbered, int]{
		"one of none": clerkAsk.RoundRobin(&nobody).Through(look), "first of none": core.First(clerkAsk, &nobody).Through(look),
	} {
		seen = 0
		_, err := housetest.Ask(t, sim, p, numbered{})
		require.ErrorIs(t, err, errUnseen, name)
		_, err = housetest.Ask(t, sim, a, func(_ *player, s *scene) core.Yield {
			p.Ask(s, &s.f[0], numbered{})
			return s.wait(get)
		})
		require.ErrorIs(t, err, errUnseen, name)
		require.Equal(t, 2, seen, name)
	}
	for name, p := range map[string]core.NoticePort[numbered]{
		"one of none": clerkTell.RoundRobin(&nobody).Through(look), "all of none": clerkTell.Broadcast(&nobody).Through(look),
	} {
		seen = 0
		require.ErrorIs(t, core.Notice(p, numbered{}), errUnseen, name)
		_, err := housetest.Ask(t, sim, a, func(_ *player, s *scene) core.Yield { return s.Throw(p.Notice(s, numbered{})) })
		require.ErrorIs(t, err, errUnseen, name)
		require.Equal(t, 2, seen, name)
	}
}

// TestThroughPanics: a step that recovers from the panic of such a function may go on as if it
// hadn't asked, or forwarded.
func TestThroughPanics(t *testing.T) {
	sim := stage(t, 1, 1)
	_, a := cast(sim, 0)
	_, b := cast(sim, 0)
	bad := b.Through(func(script) (script, error) { panic("bad") })
	v, err := housetest.Ask(t, sim, a, func(_ *player, s *scene) (y core.Yield) {
		defer func() {
			if recover() != nil {
				y = s.Return(5)
			}
		}()
		return bad.Forward(s, answer(1))
	})
	require.NoError(t, err)
	require.Equal(t, 5, v)
	v, err = housetest.Ask(t, sim, a, func(_ *player, s *scene) (y core.Yield) {
		func() {
			defer func() { require.NotNil(t, recover()) }()
			bad.Ask(s, &s.f[0], answer(1))
		}()
		b.Ask(s, &s.f[0], answer(8))
		return s.wait(get)
	})
	require.NoError(t, err)
	require.Equal(t, 8, v)
}

// pager asks for what comes behind its last answer.
type pager struct{ echo, copies core.Port[cursor, []byte] }

type cursor struct{ behind []byte }

type pagerStack struct {
	core.AskStack[struct{}, string]
	f core.Future[[]byte]
}

var pagerRead = core.Handle((*pager).read)

func (p *pager) read(s *pagerStack) core.Yield {
	p.echo.Ask(s, &s.f, cursor{[]byte("behind")})
	return core.Suspend(s, (*pager).more)
}

func (p *pager) more(s *pagerStack) core.Yield {
	last, _ := s.f.Get()
	p.copies.Ask(s, &s.f, cursor{last})
	return core.Suspend(s, (*pager).done)
}

func (p *pager) done(s *pagerStack) core.Yield {
	b, err := s.f.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(string(b))
}

// TestThroughSeesTheLastAnswer: the bytes of an answer live until its future is asked again, and
// that is behind the function.
func TestThroughSeesTheLastAnswer(t *testing.T) {
	sim := stage(t, 1, 1)
	_, echo := core.SpawnFunc(sim, func(s *core.AskStack[cursor, []byte]) core.Yield { return s.Return(s.Copy(s.Req.behind)) })
	copies := echo.Through(func(p cursor) (cursor, error) { return cursor{append([]byte(nil), p.behind...)}, nil })
	a := core.Spawn(sim, func() *pager { return &pager{echo, copies} })
	got, err := housetest.Ask(t, sim, pagerRead.At(a), struct{}{})
	require.NoError(t, err)
	require.Equal(t, "behind", got)
}

// TestPortOfNoHandler: whoever asks by one is told so.
func TestPortOfNoHandler(t *testing.T) {
	sim := stage(t, 1, 1)
	a := core.Spawn(sim, func() *pager { return &pager{} })
	require.PanicsWithValue(t, "core: a guest asks a Port without an actor: a zero one, or one for steps, as Timer is",
		func() { core.Begin(core.Handler[pager, struct{}, string]{}.At(a), struct{}{}) })
}
