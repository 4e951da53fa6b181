package frame

// Ack says how far its sender has read the stream of this track. It is outside the stream.
type Ack struct {
	Position uint64 // in the stream, bytes from the start of the session
}

// Append appends a as a frame.
//
//alloc:none
func (a *Ack) Append(dst []byte) []byte { return appendOne(dst, KindAck, a.Position) }

// Read reads a from an ACK.
//
//alloc:none
func (a *Ack) Read(r Raw) (err error) {
	a.Position, err = readOne(r, KindAck)
	return err
}

// Ping says that its sender is there. It is outside the stream.
type Ping struct {
	Asks bool // for an ACK
}

// Append appends p as a frame.
//
//alloc:none
func (p *Ping) Append(dst []byte) []byte {
	flags := Outside
	if p.Asks {
		flags |= Asks
	}
	return closed(open(dst, KindPing, flags), len(dst))
}

// Read reads p from a PING.
//
//alloc:none
func (p *Ping) Read(r Raw) error {
	f := fieldsOf(r, KindPing)
	p.Asks = r.Flags&Asks != 0
	return f.end()
}

// Bye says why its sender closes the connection. It is outside the stream.
type Bye struct {
	Code uint64 // why, as the link numbers it
	Text []byte // the same for people; Append cuts it at TextMax
}

// Append appends b as a frame.
//
//alloc:none
func (b *Bye) Append(dst []byte) []byte {
	start := len(dst)
	dst = appendNumber(open(dst, KindBye, Outside), b.Code)
	return closed(appendText(dst, b.Text), start)
}

// Read reads b from a BYE.
//
//alloc:none
func (b *Bye) Read(r Raw) error {
	f := fieldsOf(r, KindBye)
	b.Code = f.number()
	b.Text = f.bytes(TextMax)
	return f.end()
}
