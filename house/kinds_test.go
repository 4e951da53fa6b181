package house

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// notice and ask are laid out as core's stacks of int.
type (
	notice struct {
		stack.Stack
		Msg int
	}
	ask struct {
		stack.Stack
		_        pool.Carrier // lent
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

// The stacks of these tests are laid out as those of core.
func TestKinds(t *testing.T) {
	var a ask
	require.Same(t, &a.Req, stack.Request[int, int](&a.Stack))
	require.Same(t, &a.rep, stack.Reply[int](&a.Stack))
	var n notice
	require.Same(t, &n.Msg, stack.Message[int](&n.Stack))
}
