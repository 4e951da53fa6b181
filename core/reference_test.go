package core_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

// TestReferenceTo: addresses and ports are references, structs that embed one aren't.
func TestReferenceTo(t *testing.T) {
	for typ, is := range map[reflect.Type]bool{
		reflect.TypeFor[core.AnyAddress]():                    true,
		reflect.TypeFor[core.Address[player]]():               true,
		reflect.TypeFor[core.Port[int, int]]():                true,
		reflect.TypeFor[core.NoticePort[int]]():               true,
		reflect.TypeFor[int]():                                false,
		reflect.TypeFor[core.Trace]():                         false,
		reflect.TypeFor[struct{ core.Address[player] }]():     false,
		reflect.TypeFor[struct{ core.NoticePort[int] }]():     false,
		reflect.TypeFor[struct{ Port core.Port[int, int] }](): false,
	} {
		require.Equal(t, is, core.ReferenceTo(typ) != nil, typ.String())
	}
}

// TestReferents: a port is of one actor by a method, or zero, or it refers to none.
func TestReferents(t *testing.T) {
	referent := func(port any) (is, ok bool) {
		v := reflect.New(reflect.TypeOf(port))
		v.Elem().Set(reflect.ValueOf(port))
		as := reflect.TypeOf(core.ReferenceTo(v.Type().Elem()))
		to, _, ok := v.Convert(as).Interface().(core.Reference).Referent()
		return to != nil, ok
	}
	for _, zero := range []any{core.AnyAddress{}, core.Address[player]{}, core.Port[int, int]{}, core.NoticePort[int]{}} {
		is, ok := referent(zero)
		require.True(t, !is && ok, "%T", zero)
	}
	g := &core.Group[player]{}
	for what, port := range map[string]any{"a timer": core.Timer, "a router": refer.RoundRobin(g), "all": referTold.Broadcast(g),
		"one of a zero address": refer.At(core.Address[player]{})} {
		_, ok := referent(port)
		require.Equal(t, what == "one of a zero address", ok, what)
	}
}

var (
	refer     = core.Handle(func(_ *player, s *core.AskStack[int, int]) core.Yield { return s.Return(s.Req) })
	referTold = core.HandleNotice(func(_ *player, s *core.NoticeStack[int]) core.Yield { return s.Return() })
)
