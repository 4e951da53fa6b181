package core

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack"
)

// TestLayouts: each kind of stack is laid out as package stack knows it.
func TestLayouts(t *testing.T) {
	layoutsOf[int, int](t)
	layoutsOf[bool, bool](t)
	layoutsOf[struct{}, struct{}](t)
	layoutsOf[string, struct{}](t)
	layoutsOf[struct{}, byte](t)
	layoutsOf[[3]byte, [5]uint16](t)
	layoutsOf[[100]any, byte](t)

	require.Zero(t, unsafe.Offsetof(batch{}.running))
	require.Equal(t, unsafe.Sizeof(stack.Head{}), unsafe.Offsetof(batch{}.members))
	require.Equal(t, unsafe.Sizeof(stack.Batch{}), unsafe.Sizeof(batch{}))
	require.Zero(t, unsafe.Offsetof(HookStack{}.told))
	require.Equal(t, unsafe.Sizeof(stack.Head{}), unsafe.Offsetof(HookStack{}.state))
}

func layoutsOf[Req, Rep any](t *testing.T) {
	var ask AskStack[Req, Rep]
	require.Zero(t, unsafe.Offsetof(ask.answer))
	require.Same(t, &ask.Req, stack.Request[Req, Rep](stack.Of(&ask)))
	require.Same(t, &ask.rep, stack.Reply[Rep](stack.Of(&ask)))

	var notice NoticeStack[Req]
	require.Zero(t, unsafe.Offsetof(notice.told))
	require.Same(t, &notice.Msg, stack.Message[Req](stack.Of(&notice)))

	var request ChannelStack[Req, Rep]
	s := stack.Of(&request)
	require.Same(t, &request.Req, stack.Request[Req, Rep](s))
	require.Same(t, &request.rep, stack.Reply[Rep](s))
	require.Equal(t, unsafe.Pointer(&request.state), unsafe.Pointer(stack.InboundOf(s)))

	var fan fanStack[Req, Rep]
	require.Equal(t, unsafe.Sizeof(fan.state), unsafe.Offsetof(fan.AskStack))
}

// TestStacksShowWhatIsForUsers: no more than twelve names each.
func TestStacksShowWhatIsForUsers(t *testing.T) {
	for _, k := range []struct {
		kind any
		want string
	}{
		{&AskStack[int, int]{}, "Barrier Bytes Copy Deadline Req Return Throw"},
		{&NoticeStack[int]{}, "Barrier Bytes Copy Deadline Msg Return Throw"},
		{&BatchAskStack[int, int]{}, "All Barrier Bytes Copy Deadline Len ReturnAll ReturnEach Throw ThrowAll"},
		{&BatchNoticeStack[int]{}, "All Barrier Bytes Copy Deadline Len Return Throw"},
		{&ChannelStack[int, int]{}, "Barrier Bytes Copy Deadline Keep Part Peer Req Return ReturnLast Throw"},
		{&HookStack{}, "Barrier Bytes Cause Copy Deadline Return Throw"},
	} {
		var names []string
		typ := reflect.TypeOf(k.kind)
		for m := range typ.Methods() {
			names = append(names, m.Name)
		}
		for _, f := range reflect.VisibleFields(typ.Elem()) {
			if f.IsExported() {
				names = append(names, f.Name)
			}
		}
		slices.Sort(names)
		require.Equal(t, k.want, strings.Join(names, " "), typ)
	}
}
