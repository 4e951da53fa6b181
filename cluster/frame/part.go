package frame

// PieceMax is the longest piece of a PART, bytes: with its fields it is a frame of FrameMax.
const PieceMax = FrameMax - head - numberMax - 2*4 // what is at most LongMax has four digits

// Part is a piece of a frame of more than FrameMax bytes. The pieces of one come in order, and
// frames of other kinds, or pieces of others, between them. Together they are the frame with its
// head, for Long.
type Part struct {
	Number uint64 // of the long frame in this track and direction: tells those under way apart
	Total  uint64 // the length of the long frame, bytes: above FrameMax, at most LongMax
	At     uint64 // where in it the piece begins
	Piece  []byte // not empty
}

// Append appends p as a frame. It panics if the piece isn't within the total, or above PieceMax.
//
//alloc:none
func (p *Part) Append(dst []byte) []byte {
	demand(p.sound() && len(p.Piece) <= PieceMax)
	start := len(dst)
	dst = open(dst, KindPart, 0)
	dst = appendNumber(dst, p.Number)
	dst = appendNumber(dst, p.Total)
	dst = appendNumber(dst, p.At)
	return closed(append(dst, p.Piece...), start)
}

// Read reads p from a PART. Whether the piece is the next one of its frame is for the caller to
// see.
//
//alloc:none
func (p *Part) Read(r Raw) error {
	f := fieldsOf(r, KindPart)
	p.Number = f.number()
	p.Total = f.number()
	p.At = f.number()
	p.Piece = f.rest()
	f.must(len(p.Piece) <= PieceMax && p.sound())
	return f.end()
}

// Last reports whether no piece of the frame comes after p.
func (p *Part) Last() bool { return p.At+uint64(len(p.Piece)) == p.Total }

func (p *Part) sound() bool {
	return p.Total > FrameMax && p.Total <= LongMax && len(p.Piece) > 0 && p.At < p.Total &&
		uint64(len(p.Piece)) <= p.Total-p.At
}
