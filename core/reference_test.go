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
