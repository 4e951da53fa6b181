package frame

// sizedMax is the default of Length.Max and Varint.Max: far above what messages have, and little
// enough for a server to hold one from each of many clients.
const sizedMax = 1 << 20

// Length is the framing of bytes behind a header that says how many they are:
//
//	Offset bytes | a number, of Width bytes | the body: number + Adjust bytes
//
// The header is all before the body. The zero Length has numbers of four bytes, the highest first,
// that count the body alone, as most protocols do.
type Length struct {
	// Offset is how many bytes of the header stand before the number, at most 64 KiB.
	Offset int
	// Width is how many bytes the number has, 1 to 8. Default 4.
	Width int
	// Little says that the number's lowest byte comes first. Default the highest, as is usual in
	// protocols of the internet.
	Little bool
	// Adjust is added to the number to make the length of the body, between 1 GiB and minus that.
	// If the number counts the header too it is minus the header's length; if the number doesn't
	// count a checksum behind what it counts, it is the length of the checksum.
	Adjust int
	// Keep has frames begin with their header. Then a payload, too, is a frame with its header, of
	// which Append sets the number and takes the rest as it is. Otherwise frames and payloads are
	// bodies; what stood before the number is dropped, and Append makes it zeros.
	Keep bool
	// Max is the longest frame, in bytes, with its header only if Keep is set; at most 1 GiB.
	// Default 1 MiB.
	Max int

	need int // bytes of header and body, once the header of the frame under way has come; else 0
}

// offsetMax is the highest Length.Offset: a reader waits for a header, whatever its length, before
// it knows more.
const offsetMax = 64 << 10

// header returns the length of the header.
func (l *Length) header() int {
	if uint(l.Offset) > offsetMax || l.width() > 8 || l.Adjust < -highest || l.Adjust > highest {
		outOfRange()
	}
	return l.Offset + l.width()
}

func (l *Length) width() int { return limit(l.Width, 4) }

// bodyMax is the length of the longest body; it is negative if the header is beyond the limit.
func (l *Length) bodyMax(header int) int {
	most := limit(l.Max, sizedMax)
	if l.Keep {
		most -= header
	}
	return most
}

// Decode implements Framing. Its errors are ErrTooLong and, for a number that would make the length
// of the body negative, ErrLength.
//
//alloc:none
func (l *Length) Decode(in []byte, frame *[]byte) (n int, err error) {
	if len(in) < l.Need() {
		return 0, nil
	}
	header := l.header()
	if l.need == 0 {
		body, err := l.body(in, header)
		if err != nil {
			return 0, err
		}
		if l.need = header + body; len(in) < l.need {
			return 0, nil
		}
	}
	n, l.need = l.need, 0
	if l.Keep {
		header = 0
	}
	*frame = in[header:n:n]
	return n, nil
}

// body returns the length of the body that a header announces.
func (l *Length) body(in []byte, header int) (int, error) {
	number, most := l.number(in), int64(l.bodyMax(header))-int64(l.Adjust)
	if most < 0 || number > uint64(most) {
		return 0, ErrTooLong
	}
	body := int64(number) + int64(l.Adjust)
	if body < 0 {
		return 0, ErrLength
	}
	return int(body), nil
}

// number reads the number of a header.
func (l *Length) number(header []byte) (n uint64) {
	field := header[l.Offset : l.Offset+l.width()]
	for i := range field {
		at := i
		if l.Little {
			at = len(field) - 1 - i
		}
		n = n<<8 | uint64(field[at])
	}
	return n
}

// setNumber writes the number of a header.
func (l *Length) setNumber(header []byte, n uint64) {
	field := header[l.Offset : l.Offset+l.width()]
	for i := range field {
		at := i
		if !l.Little {
			at = len(field) - 1 - i
		}
		field[at] = byte(n >> (8 * i))
	}
}

// Need implements Framing.
//
//alloc:none
func (l *Length) Need() int { return max(l.need, l.header()) }

// Check implements Framing. ErrLength is its error for a payload that needs a number below 0, or
// that lacks a part of its header; ErrTooLong also for one that needs a number wider than Width.
//
//alloc:none
func (l *Length) Check(payload []byte) error {
	header, body := l.header(), len(payload)
	if l.Keep {
		body -= header
	}
	number := int64(body) - int64(l.Adjust)
	switch {
	case body > l.bodyMax(header):
		return ErrTooLong
	case body < 0 || number < 0:
		return ErrLength
	case uint64(number)>>(8*l.width()) != 0:
		return ErrTooLong
	}
	return nil
}

// Size implements Framing.
//
//alloc:none
func (l *Length) Size(payload []byte) int { return l.header() + len(payload) }

// Append implements Framing.
//
//alloc:none
func (l *Length) Append(out, payload []byte) []byte {
	if err := l.Check(payload); err != nil {
		panic(err)
	}
	header, start := l.header(), len(out)
	if !l.Keep {
		for range header {
			out = append(out, 0)
		}
	}
	out = append(out, payload...)
	body := len(out) - start - header
	l.setNumber(out[start:], uint64(int64(body)-int64(l.Adjust)))
	return out
}
