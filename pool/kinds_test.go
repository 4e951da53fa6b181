package pool

import (
	"sync/atomic"
	"testing"
	"unsafe"
)

// plain is pooled with its Object in front and nothing fixed.
type plain struct {
	Object
	value int64
}

var plainKind = NewKind("plain", Layout{Size: unsafe.Sizeof(plain{}), Fixed: ObjectSize},
	func() *Object { return &new(plain).Object },
	func(o *Object) { plainOf(o).value = 0 })

func plainOf(o *Object) *plain { return (*plain)(unsafe.Pointer(o)) }

// middle is pooled with its Object in the middle; serial is fixed.
type middle struct {
	before [2]int64
	Object
	serial int64
	behind [3]int64
}

const middleAt = unsafe.Offsetof(middle{}.Object)

var middleMade atomic.Int64

var middleKind = NewKind("middle",
	Layout{Size: unsafe.Sizeof(middle{}), Offset: middleAt, Fixed: unsafe.Offsetof(middle{}.behind) - middleAt},
	func() *Object { return &(&middle{serial: middleMade.Add(1)}).Object },
	func(o *Object) {
		m := middleOf(o)
		m.before, m.behind = [2]int64{}, [3]int64{}
	})

func middleOf(o *Object) *middle { return (*middle)(unsafe.Add(unsafe.Pointer(o), -int(middleAt))) }

// scratch keeps what it holds from life to life.
type scratch struct {
	Object
	kept [8]byte
}

var scratchKind = NewKind("scratch", Layout{Size: unsafe.Sizeof(scratch{}), Fixed: ObjectSize},
	func() *Object { return &new(scratch).Object },
	func(*Object) {}).Keeps()

func scratchOf(o *Object) *scratch { return (*scratch)(unsafe.Pointer(o)) }

// panics requires f to panic with the given text.
func panics(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	f()
}
