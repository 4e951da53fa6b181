package stack

import (
	"errors"
	"testing"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// forgetful ends its batches in ways that core doesn't offer.
type forgetful struct{ err error }

type forgetStack struct{ BatchAskStack[int, int] }

func (a *forgetful) all(s *forgetStack) Yield {
	if a.err != nil {
		return s.Throw(a.err)
	}
	return s.End()
}

var forgetAll = newBatchAsk((*forgetful).all, 0)

// TestUnansweredMembers: if a batch ends without answers, its members end
// with ErrUnanswered; if it ends with an error, they end with that error.
func TestUnansweredMembers(t *testing.T) {
	sad := errors.New("sad")
	for _, c := range []struct{ err, want error }{{nil, fault.ErrUnanswered}, {sad, sad}} {
		h := newHand(t, 1)
		house := settleOn(h, 0, &forgetful{err: c.err})
		var calls []*Call
		var stacks []*Stack
		for range 3 {
			c := h.guests.Call(house, forgetAll)
			h.guests.Send(c)
			stacks, calls = append(stacks, c.Stack()), append(calls, c)
		}
		h.settle()
		for i, call := range calls {
			if !call.Ready() {
				t.Fatalf("member %d has no answer", i)
			}
			call.cell.Take()
			if got := stacks[i].Err(); got != c.want {
				t.Errorf("member %d got %v, want %v", i, got, c.want)
			}
			h.guests.Done(call)
		}
	}
}
