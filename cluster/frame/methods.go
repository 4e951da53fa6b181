package frame

import "math"

// Method declares a number for a method, for all frames of this track and direction that follow:
// its name, and the types of what the sender writes.
type Method struct {
	Number  uint64 // not 0; declared once in a session
	Name    []byte // not empty, at most NameMax bytes
	Request []byte // schema of requests, or notices, that the sender writes
	Reply   []byte // schema of replies that the sender writes; empty: it is of notices
}

// SchemaMax is the longest schema: so a METHOD is no longer than FrameMax.
const SchemaMax = 30 << 10

// Append appends m as a frame. It panics if a field is out of its range.
//
//alloc:none
func (m *Method) Append(dst []byte) []byte {
	demand(m.Number != 0 && len(m.Name) > 0 && len(m.Request) > 0)
	start := len(dst)
	dst = appendNumber(open(dst, KindMethod, 0), m.Number)
	dst = appendBytes(dst, m.Name, NameMax)
	dst = appendBytes(dst, m.Request, SchemaMax)
	return closed(appendBytes(dst, m.Reply, SchemaMax), start)
}

// Read reads m from a METHOD.
//
//alloc:none
func (m *Method) Read(r Raw) error {
	f := fieldsOf(r, KindMethod)
	m.Number = f.between(1, math.MaxUint64)
	m.Name = f.bytes(NameMax)
	m.Request = f.bytes(SchemaMax)
	m.Reply = f.bytes(SchemaMax)
	f.must(len(m.Name) > 0 && len(m.Request) > 0)
	return f.end()
}
