package move

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

type pair struct {
	n    int32
	text string
}

func check[T any](t *testing.T, v T) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		from, to, want := new(T), new(T), v
		*from = v
		Of(reflect.TypeFor[T]())(unsafe.Pointer(to), unsafe.Pointer(from))
		runtime.GC()
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(*to))
		require.Zero(t, *from)
	})
}

func TestMove(t *testing.T) {
	check(t, 7)
	check(t, uint8(7))
	check(t, 2.5)
	check(t, complex(1, 2))
	check(t, struct{}{})
	check(t, [3]int{1, 2, 3})
	check(t, [0]string{})
	check(t, struct {
		a uint8
		b [2]int16
	}{1, [2]int16{2, 3}})
	check(t, "text")
	check(t, append([]byte(nil), "bytes"...))
	check(t, []pair{{1, "a"}, {2, "b"}})
	check(t, &pair{1, "a"})
	check(t, map[string]int{"a": 1})
	check(t, make(chan int))
	check(t, unsafe.Pointer(new(int)))
	check(t, any(pair{1, "b"}))
	check(t, error(fmt.Errorf("e")))
	check(t, pair{1, "a"})
	check(t, [2]*int{nil, new(int)})
	check(t, struct {
		a uint8
		b any
		c [2]pair
		d float32
		e []byte
	}{1, "b", [2]pair{{1, "x"}, {2, "y"}}, 2, []byte("e")})
	var most [32]string // wordsMax words
	most[31] = "last"
	check(t, most)
	var more [33]string
	more[32] = "last"
	check(t, more)
	var numbers [1000]uint16
	numbers[999] = 1
	check(t, numbers)
}

// The object that a moved pointer points to lives as long as the pointer is at its new place.
func TestMovedPointersAreSeen(t *testing.T) {
	type slot struct{ p *[1 << 10]int }
	for _, of := range []reflect.Type{reflect.TypeFor[*[1 << 10]int](), reflect.TypeFor[slot]()} {
		move := Of(of)
		from, to := new(slot), new(slot)
		for i := range 200 {
			from.p = &[1 << 10]int{i}
			move(unsafe.Pointer(to), unsafe.Pointer(from))
			if i%50 == 0 {
				runtime.GC()
			}
			require.Equal(t, i, to.p[0])
			require.Nil(t, from.p)
		}
	}
}

func TestMoveAllocatesNothing(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[int](), reflect.TypeFor[[3]int](), reflect.TypeFor[string](), reflect.TypeFor[pair](), reflect.TypeFor[any]()} {
		move, to, from := Of(of), make([]any, 8), make([]any, 8)
		require.Zero(t, testing.AllocsPerRun(1000, func() { move(unsafe.Pointer(&to[0]), unsafe.Pointer(&from[0])) }), of)
	}
}

func TestBoxed(t *testing.T) {
	p := &pair{1, "a"}
	require.Same(t, p, Boxed(any((*pair)(nil)), unsafe.Pointer(p)).(*pair))
}

func TestHasPointers(t *testing.T) {
	for of, want := range map[reflect.Type]bool{
		reflect.TypeFor[int](): false, reflect.TypeFor[[9]string](): true, reflect.TypeFor[[0]string](): false,
		reflect.TypeFor[struct{ a, b float64 }](): false, reflect.TypeFor[struct {
			a int
			b any
		}](): true, reflect.TypeFor[[1 << 20]byte](): false, reflect.TypeFor[func()](): true,
	} {
		require.Equal(t, want, HasPointers(of), of)
	}
}

func TestHasBytes(t *testing.T) {
	type name struct{ First, Last string }
	for _, has := range []any{[]byte{}, [][]int{}, &name{}, map[int]int{}, struct {
		n int
		a any
	}{}, [2]struct{ b []byte }{}} {
		require.True(t, HasBytes(reflect.TypeOf(has)), "%T", has)
	}
	for _, none := range []any{1, "", name{}, [3]string{}, [0][]byte{}, struct{}{}} {
		require.False(t, HasBytes(reflect.TypeOf(none)), "%T", none)
	}
}

func TestFuncName(t *testing.T) {
	f := TestFuncName
	require.Equal(t, "move.TestFuncName", FuncName(*(*unsafe.Pointer)(unsafe.Pointer(&f))))
}
