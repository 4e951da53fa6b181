package frame

// Reply is what an ASK is answered with if all went well.
type Reply struct {
	Slot    uint64 // of the ASK
	Message []byte
}

// Append appends p as a frame.
//
//alloc:none
func (p *Reply) Append(dst []byte) []byte {
	start := len(dst)
	dst = open(dst, KindReply, 0)
	dst = appendNumber(dst, p.Slot)
	return closed(append(dst, p.Message...), start)
}

// Read reads p from a REPLY.
//
//alloc:none
func (p *Reply) Read(r Raw) error {
	f := fieldsOf(r, KindReply)
	p.Slot = f.number()
	p.Message = f.rest()
	return f.end()
}

// Fail is what an ASK is answered with if it has failed.
type Fail struct {
	Slot uint64
	Code uint64 // of an error of the runtime; 0: Name has it
	Text []byte // of the error, for people; Append cuts it at TextMax
	Name []byte // of an error that both ends have registered, or empty; only if Code is 0
}

// Append appends e as a frame. It panics if e has a code and a name.
//
//alloc:none
func (e *Fail) Append(dst []byte) []byte {
	demand(e.Code == 0 || len(e.Name) == 0)
	start := len(dst)
	dst = open(dst, KindFail, 0)
	dst = appendNumber(dst, e.Slot)
	dst = appendNumber(dst, e.Code)
	dst = appendText(dst, e.Text)
	if len(e.Name) > 0 {
		dst = appendBytes(dst, e.Name, NameMax)
	}
	return closed(dst, start)
}

// Read reads e from a FAIL.
//
//alloc:none
func (e *Fail) Read(r Raw) error {
	f := fieldsOf(r, KindFail)
	e.Slot = f.number()
	e.Code = f.number()
	e.Text = f.bytes(TextMax)
	if e.Name = nil; len(f.in) > 0 && Version > 1 {
		e.Name = f.bytes(NameMax)
		f.must(e.Code == 0 && len(e.Name) > 0)
	}
	return f.end()
}

// Cancel says that nobody waits for the answer to an ASK any more. It is answered all the same, as
// its slot is free only then.
type Cancel struct {
	Slot uint64
}

// Append appends c as a frame.
//
//alloc:none
func (c *Cancel) Append(dst []byte) []byte { return appendOne(dst, KindCancel, c.Slot) }

// Read reads c from a CANCEL.
//
//alloc:none
func (c *Cancel) Read(r Raw) (err error) {
	c.Slot, err = readOne(r, KindCancel)
	return err
}

// appendOne appends a frame of one number.
func appendOne(dst []byte, k Kind, n uint64) []byte {
	start := len(dst)
	return closed(appendNumber(open(dst, k, k.flags()), n), start)
}

// readOne reads the body of a frame of one number.
func readOne(r Raw, k Kind) (uint64, error) {
	f := fieldsOf(r, k)
	n := f.number()
	return n, f.end()
}
