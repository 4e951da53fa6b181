package stack

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

type (
	// crowdStack asks the houses in its request and answers with their replies.
	crowdStack struct {
		before int
		FanStack[[]*House, []Future[figures]]
		f [3]Future[figures]
	}
	// fanner asks for a crowd, and reads the answers when it has them.
	fanner struct {
		by      *Handler
		to      []*House
		answers []Future[figures]
		sum     int
	}
	fannerStack struct {
		NoticeStack[int]
		f Future[[]Future[figures]]
	}
)

func crowdAsk(_ *lateActor, s *crowdStack) Yield {
	s.before++
	for i, h := range s.Req {
		c := s.Bind(s.f[i].Promise(), lateAsk, 0)
		Request[text, figures](c).S = "four"[:i+1]
		s.Engine().Push(h, c)
	}
	return s.Await()
}

func crowdDone(_ *lateActor, s *crowdStack) Yield {
	s.Keep()
	if s.before != 1 {
		return s.Throw(errors.New("a stack isn't clear"))
	}
	return s.Return(s.f[:len(s.Req)])
}

func crowdWon(_ *lateActor, s *crowdStack) bool { return s.f[0].Ready() }

func (a *fanner) run(s *fannerStack) Yield {
	c := s.Bind(s.f.Promise(), a.by, 0)
	*Request[[]*House, []Future[figures]](c) = a.to
	s.Nest(c)
	if s.Engine().current != &s.Stack || !s.Engine().inStep || s.f.Ready() {
		return s.Throw(errors.New("the nested stack took over"))
	}
	return Suspend(s, (*fanner).got)
}

func (a *fanner) got(s *fannerStack) Yield {
	answers, err := s.f.Get()
	if err != nil {
		return s.Throw(err)
	}
	a.answers = answers
	for i := range answers {
		if answers[i].Ready() {
			rep, err := answers[i].Get()
			if err != nil {
				return s.Throw(err)
			}
			a.sum += rep.N
		}
	}
	return s.Return()
}

// TestFanStack: a fan is nested in its asker's house, on one worker and with a
// member on another. Its answers live as long as it does, then all objects go home.
func TestFanStack(t *testing.T) {
	for name, c := range map[string]struct {
		won  func(*lateActor, *crowdStack) bool
		want int
	}{
		"all":   {nil, 1 + 2 + 3},
		"first": {crowdWon, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, d := newTestWorker()
			other, _ := newTestWorker()
			other.Guests = w.Guests // two workers of one system
			by := NewFan(crowdAsk, crowdDone, c.won)
			asked := &fanner{by: by}
			a := adopt(w, 1, asked)
			for i, at := range []*Engine{w, w, other} {
				asked.to = append(asked.to, adopt(at, uint64(i+2), &lateActor{}))
			}
			h := newNotice((*fanner).run)
			for range 3 { // the second and third recycle
				asked.sum = 0
				w.Push(a, w.Begin(h))
				for range 3 {
					w.run()
					other.run()
				}
				require.Empty(t, d.failed)
				require.Equal(t, c.want, asked.sum)
				require.False(t, asked.answers[0].Ready(), "its stack has ended")
				require.Zero(t, a.Waiting())
			}
			a.rooms().table.Close(&w.Shard)
			require.Zero(t, w.Shard.Outstanding())
			require.Zero(t, other.Shard.Outstanding())
		})
	}
}
