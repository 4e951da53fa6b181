package wire

// kind says how a value is written. The numbers are a part of schemas: they stay.
type kind uint8

const (
	kindBool       kind = 1
	kindInt8       kind = 2
	kindInt16      kind = 3
	kindInt32      kind = 4
	kindInt64      kind = 5 // int and time.Duration, too
	kindUint8      kind = 6
	kindUint16     kind = 7
	kindUint32     kind = 8
	kindUint64     kind = 9 // uint, too
	kindFloat32    kind = 10
	kindFloat64    kind = 11
	kindComplex64  kind = 12
	kindComplex128 kind = 13
	kindTime       kind = 14
	kindString     kind = 15
	kindBytes      kind = 16 // []byte and pool.Bytes
	kindArray      kind = 17
	kindSlice      kind = 18
	kindMap        kind = 19
	kindStruct     kind = 20
	kindCoded      kind = 21
)

// kinds has the name of each kind, and its bytes if these are always as many.
var kinds = [...]struct {
	name  string
	width int
}{
	kindBool: {"bool", 1}, kindInt8: {"int8", 1}, kindInt16: {"int16", 2}, kindInt32: {"int32", 4}, kindInt64: {"int64", 8},
	kindUint8: {"uint8", 1}, kindUint16: {"uint16", 2}, kindUint32: {"uint32", 4}, kindUint64: {"uint64", 8},
	kindFloat32: {"float32", 4}, kindFloat64: {"float64", 8}, kindComplex64: {"complex64", 8}, kindComplex128: {"complex128", 16},
	kindTime: {"time", timeBytes}, kindString: {"string", 0}, kindBytes: {"bytes", 0}, kindArray: {"array", 0},
	kindSlice: {"slice", 0}, kindMap: {"map", 0}, kindStruct: {"struct", 0}, kindCoded: {"hand-coded", 0},
}

// timeBytes is what AppendTime appends.
const timeBytes = 12

// known reports whether k is a kind.
func (k kind) known() bool    { return k > 0 && int(k) < len(kinds) }
func (k kind) String() string { return kinds[k].name }

// parts returns of how many numbers of which width a number consists.
func (k kind) parts() (n, width int) {
	width = kinds[k].width
	if k == kindComplex64 || k == kindComplex128 {
		return 2, width / 2
	}
	return 1, width
}
