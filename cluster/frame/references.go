package frame

import "math"

// Ref declares the number of an actor of the receiver, for all frames of this track and direction
// that follow.
type Ref struct {
	Number uint64 // not 0
	Serial uint64 // by which the receiver has told of the actor; not 0
}

// Append appends e as a frame. It panics without a number or a serial.
//
//alloc:none
func (e *Ref) Append(dst []byte) []byte {
	demand(e.Number != 0 && e.Serial != 0)
	start := len(dst)
	dst = open(dst, KindRef, 0)
	dst = appendNumber(dst, e.Number)
	return closed(appendNumber(dst, e.Serial), start)
}

// Read reads e from a REF.
//
//alloc:none
func (e *Ref) Read(r Raw) error {
	f := fieldsOf(r, KindRef)
	e.Number = f.between(1, math.MaxUint64)
	e.Serial = f.between(1, math.MaxUint64)
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
