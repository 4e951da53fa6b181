package frame

import "bytes"

// Delimiter is the framing of bytes that a mark ends. Frames may be empty. The zero Delimiter ends
// frames with a zero byte and has the default limit.
type Delimiter struct {
	// Mark ends each frame and isn't part of it. Framings may share its bytes, which must not
	// change. Default one zero byte. A long mark whose parts are alike costs its length for each
	// byte, at worst.
	Mark []byte
	// Max is the longest frame, in bytes, without the mark; at most 1 GiB. Default 64 KiB.
	Max int

	// The frame under way; both zero between frames.
	seen int // where a mark may begin at the earliest
	need int // where it may end at the earliest. Invariant: need > seen, if not 0
}

var zeroByte = []byte{0}

func (d *Delimiter) mark() []byte {
	if len(d.Mark) == 0 {
		return zeroByte
	}
	return d.Mark
}

// Decode implements Framing. Its error is ErrTooLong.
//
//alloc:none
func (d *Delimiter) Decode(in []byte, frame *[]byte) (n int, err error) {
	mark, most := d.mark(), limit(d.Max, lineMax)
	text := in[:min(len(in), most+len(mark))]
	end := bytes.Index(text[d.seen:], mark)
	if end < 0 {
		return 0, d.wait(text, mark, most)
	}
	end += d.seen
	d.seen, d.need = 0, 0
	*frame = in[:end:end]
	return end + len(mark), nil
}

// wait ends a call for a frame whose mark hasn't come, or not all of it.
func (d *Delimiter) wait(text, mark []byte, most int) error {
	part := min(len(mark)-1, len(text))
	for !bytes.HasSuffix(text, mark[:part]) {
		part--
	}
	d.seen = len(text) - part
	d.need = d.seen + len(mark)
	if d.seen > most {
		d.seen, d.need = 0, 0
		return ErrTooLong
	}
	return nil
}

// Need implements Framing.
//
//alloc:none
func (d *Delimiter) Need() int { return max(d.need, len(d.mark())) }

// Check implements Framing. ErrDelimiter is its error for a payload in which, or at whose end, the
// peer would find the mark too early: "a" before the mark "aa" is a mark and an "a".
//
//alloc:none
func (d *Delimiter) Check(payload []byte) error {
	mark := d.mark()
	if len(payload) > limit(d.Max, lineMax) {
		return ErrTooLong
	}
	if bytes.Contains(payload, mark) {
		return ErrDelimiter
	}
	for part := min(len(mark)-1, len(payload)); part > 0; part-- {
		if bytes.HasSuffix(payload, mark[:part]) && bytes.HasPrefix(mark, mark[part:]) {
			return ErrDelimiter
		}
	}
	return nil
}

// Size implements Framing.
//
//alloc:none
func (d *Delimiter) Size(payload []byte) int { return len(payload) + len(d.mark()) }

// Append implements Framing.
//
//alloc:none
func (d *Delimiter) Append(out, payload []byte) []byte {
	if err := d.Check(payload); err != nil {
		panic(err)
	}
	return append(append(out, payload...), d.mark()...)
}
