package secure

import "encoding/binary"

const (
	headerLen       = 5             // of a record
	recordMax       = 16<<10 + 2048 // the longest body of a record, of any version
	typeHandshake   = 22
	typeClientHello = 1
)

// hasHello reports whether b begins with a whole ClientHello, in one record or several; or with
// something else, of which nothing more need be read to refuse it.
func hasHello(b []byte) bool {
	var head [4]byte // of the message: its type, and three bytes of length
	have := 0        // bytes of the message
	for len(b) >= headerLen {
		size := int(binary.BigEndian.Uint16(b[3:]))
		if b[0] != typeHandshake || b[1] != 3 || size == 0 || size > recordMax {
			return true
		}
		body := b[headerLen:min(len(b), headerLen+size)]
		if have < len(head) {
			copy(head[have:], body)
		}
		have += len(body)
		switch {
		case have == 0:
		case head[0] != typeClientHello:
			return true
		case have >= len(head) && have >= len(head)+int(binary.BigEndian.Uint32(head[:])&0xffffff):
			return true
		}
		if b = b[headerLen+len(body):]; len(body) < size {
			return false
		}
	}
	return false
}
