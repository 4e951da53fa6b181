package frame

import "math"

// Ref declares a number for an actor, for all frames of this track and direction that follow. An
// actor of the receiver is named by its path or by its serial, as FOUND has told it.
type Ref struct {
	Number uint64 // not 0; declared once in a session
	Serial uint64 // 0: Path says which actor it is
	Path   []byte // empty: Serial says it
	Type   []byte // name of the actor's type, or empty
}

// Append appends e as a frame. It panics unless there is a number, and either a serial or a path.
//
//alloc:none
func (e *Ref) Append(dst []byte) []byte {
	demand(e.Number != 0 && (e.Serial == 0) == (len(e.Path) > 0))
	start := len(dst)
	dst = open(dst, KindRef, 0)
	dst = appendNumber(dst, e.Number)
	dst = appendNumber(dst, e.Serial)
	dst = appendBytes(dst, e.Path, NameMax)
	return closed(appendBytes(dst, e.Type, NameMax), start)
}

// Read reads e from a REF.
//
//alloc:none
func (e *Ref) Read(r Raw) error {
	f := fieldsOf(r, KindRef)
	e.Number = f.between(1, math.MaxUint64)
	e.Serial = f.number()
	e.Path = f.bytes(NameMax)
	e.Type = f.bytes(NameMax)
	f.must((e.Serial == 0) == (len(e.Path) > 0))
	return f.end()
}

// Gap says how many notices the sender has written in earlier sessions between the two
// incarnations, all tracks of this number together. So the receiver knows how many of them never
// came. It is the first frame of a session that isn't the first one.
type Gap struct {
	Notices uint64
}

// Append appends g as a frame.
//
//alloc:none
func (g *Gap) Append(dst []byte) []byte { return appendOne(dst, KindGap, g.Notices) }

// Read reads g from a GAP.
//
//alloc:none
func (g *Gap) Read(r Raw) (err error) {
	g.Notices, err = readOne(r, KindGap)
	return err
}
