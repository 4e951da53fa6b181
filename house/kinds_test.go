package house

import "github.com/stackhouse-go/stackhouse/stack"

// notice and ask are laid out as core's stacks of int.
type (
	notice struct {
		stack.Stack
		Msg int
	}
	ask struct {
		stack.Stack
		rep, Req int
	}
)

func (s *notice) Return() stack.Yield { return s.End() }

func (s *ask) Return(rep int) stack.Yield {
	y := s.End()
	s.rep = rep
	return y
}

func newNotice[A, S any, PS stack.RunningOf[S]](first func(*A, PS) stack.Yield) *stack.Handler {
	return stack.NewNotice[int](stack.EntryOf(first))
}

func newAsk[A, S any, PS stack.RunningOf[S]](first func(*A, PS) stack.Yield) *stack.Handler {
	return stack.NewAsk[int, int](stack.EntryOf(first))
}
