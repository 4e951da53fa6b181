package stack

import (
	"slices"
	"testing"
)

// keeper answers an ask when it is told to, or at once.
type keeper struct{ kept []*keptStack }

type keptStack struct {
	AskStack[int, int]
	never Future[struct{}]
}

func (k *keeper) ask(s *keptStack) Yield {
	if s.Req >= 0 {
		return s.Return(s.Req)
	}
	k.kept = append(k.kept, s)
	s.Alarm(s.never.Promise(), 1<<60, 0)
	return Suspend(s, (*keeper).end)
}

func (k *keeper) end(s *keptStack) Yield { return s.Return(s.Req) }

var keeperAsk = NewAsk((*keeper).ask)

// counter asks a keeper a number of times.
type wrapper struct {
	keeper *House
	ids    []uint64 // of all asks, in order
	got    []int
	errs   []error
}

type wrapStack struct {
	NoticeStack[[]int]
	f []Future[int]
}

func (a *wrapper) begin(s *wrapStack) Yield {
	s.f = make([]Future[int], len(s.Msg))
	for i, n := range s.Msg {
		c := s.Bind(s.f[i].Promise(), keeperAsk, 0)
		*Request[int, int](c) = n
		a.ids = append(a.ids, c.ID())
		s.Worker().Push(a.keeper, c)
	}
	return Suspend(s, (*wrapper).done)
}

func (a *wrapper) done(s *wrapStack) Yield {
	for i := range s.f {
		n, err := s.f[i].Get()
		a.got, a.errs = append(a.got, n), append(a.errs, err)
	}
	return s.Return()
}

var wrapBegin = NewNotice((*wrapper).begin)

// TestIDWrapAround has a house ask over the end of its ids, 2^64, while old
// promises wait under the ids that come next.
func TestIDWrapAround(t *testing.T) {
	for _, workers := range []int{1, 2} {
		h := newHand(t, workers)
		k := &keeper{}
		a := &wrapper{keeper: settleOn(h, workers-1, k)}
		asker := settleOn(h, 0, a)

		// Ids 1 to 10 are taken: 2, 3, 5 and 9 stay so.
		tell(h, asker, wrapBegin, []int{0, -2, -3, 0, -5, 0, 0, 0, -9, 0})
		h.settle()
		if asker.Waiting() != 4 {
			t.Fatalf("%d asks wait, want 4", asker.Waiting())
		}

		// From 2^64-4 on, in two stacks, the second of which wraps.
		asker.rooms().lastID = 1<<64 - 5
		tell(h, asker, wrapBegin, []int{-1, 11, 12})
		tell(h, asker, wrapBegin, []int{13, 14, 15, 16, 17, 18})
		tell(h, asker, wrapBegin, []int{19, -1, 20})
		h.settle()
		want := []uint64{1<<64 - 4, 1<<64 - 3, 1<<64 - 2, 1<<64 - 1, 1, 4, 6, 7, 8, 10, 11, 12}
		if got := a.ids[10:]; !slices.Equal(got, want) {
			t.Fatalf("ids %x, want %x", got, want)
		}
		if want := []int{13, 14, 15, 16, 17, 18}; !slices.Equal(a.got, want) {
			t.Errorf("answers %v, want %v", a.got, want)
		}

		// What waited all along is answered under its old ids, by deadline.
		h.pass(6e9)
		for _, err := range a.errs {
			if err != nil && err != ErrTimeout {
				t.Errorf("an ask ended with %v", err)
			}
		}
		if n := asker.Waiting(); n != 0 || len(a.got) != 22 {
			t.Errorf("%d asks still wait, %d answers; want 0 and 22", n, len(a.got))
		}
		// The keepers' stacks were cancelled: they end before their next step.
		for _, i := range []*House{a.keeper, asker} {
			i.Stop(&h.guests)
		}
		h.settle()
	}
}
