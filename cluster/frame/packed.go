package frame

// PackedFactor is how many times as long the frame may be that a PACKED unfolds to.
const PackedFactor = 16

// Packed is a frame of more than FrameMax bytes, packed: with its head, for Long, once it is
// unpacked. If it still is above FrameMax then it travels in parts itself.
type Packed struct {
	Total uint64 // the length of the frame, bytes: above FrameMax, at most LongMax
	Text  []byte // what unfolds to it: a block of S2
}

// Append appends p as a frame, whose length says how much it unfolds to at least. It panics if the
// total isn't that of a long frame.
//
//alloc:none
func (p *Packed) Append(dst []byte) []byte {
	demand(p.Total > FrameMax && p.Total <= LongMax && len(p.Text) < LongMax)
	start := len(dst)
	dst = open(dst, KindPacked, 0)
	dst = appendNumber(dst, p.Total)
	dst = appendBytes(dst, p.Text, LongMax)
	for range p.padding() {
		dst = append(dst, 0)
	}
	return closed(dst, start)
}

// Len returns how long the frame is at most.
func (p *Packed) Len() int { return head + 2*numberMax + len(p.Text) + p.padding() }

// Read reads p from a PACKED. Whether the text unfolds to the total is for the caller to see,
// before it takes memory.
//
//alloc:none
func (p *Packed) Read(r Raw) error {
	f := fieldsOf(r, KindPacked)
	p.Total = f.between(FrameMax+1, LongMax)
	p.Text = f.bytes(LongMax)
	padding := f.rest()
	f.must(len(padding) == p.padding())
	for _, b := range padding {
		f.must(b == 0)
	}
	return f.end()
}

// padding returns how many zeros are behind the text: so many that what is unpacked has
// PackedFactor times its bytes at most.
func (p *Packed) padding() int {
	return max(0, (int(p.Total)+PackedFactor-1)/PackedFactor-len(p.Text))
}
