package stack

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// onlooker is a Middleware that notes the calls around which it is called.
type onlooker struct{ begun, ended []Running }

var errRefused = errors.New("refused")

func (o *onlooker) Begins(s Running) error {
	o.begun = append(o.begun, s)
	if len(o.begun) > 1 {
		return errRefused
	}
	return nil
}

func (o *onlooker) Ended(s Running, _ error) { o.ended = append(o.ended, s) }

// TestMiddlewareSeesTheUsersStruct: Begins and Ended get the pointer that steps get, even if the
// Stack is in the middle of the user's struct.
func TestMiddlewareSeesTheUsersStruct(t *testing.T) {
	w, _ := newTestWorker()
	a := &lateActor{}
	h := adopt(w, 1, a)
	o := &onlooker{}
	by := newAsk((*lateActor).ask, o)
	require.Equal(t, "stack.(*lateActor).ask", by.Name())
	for i := range 2 {
		c := w.Guests.Call(h, by)
		Request[text, figures](c.Stack()).S = "seen"
		w.Guests.Send(c)
		w.run()
		c.cell.Take()
		s, ok := o.begun[i].(*lateStack)
		require.True(t, ok)
		require.Same(t, c.Stack(), Of(s))
		w.Guests.Done(c)
	}
	require.Equal(t, []string{"seen"}, a.asked)
	require.Equal(t, o.begun[:1], o.ended)
}
