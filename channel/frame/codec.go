package frame

// Codec makes a Framing the codec of a connection whose requests and replies are bytes: of a server
// of package channel, as a channel.Codec[[]byte, []byte], or of a client. Each connection has its
// own. A request, or a reply, is what a frame carries, and lives as long as the input.
type Codec struct {
	// Framing cuts what comes in and makes what goes out. It is required.
	Framing Framing
	// Fault appends to out what the client is told in place of a reply: the text of err, in the form
	// that the client knows. It is the payload of a frame. It is called twice for each error, and
	// must make the same of it. If its text can't be framed, as it is too long or holds what ends a
	// frame, Fault is asked for the text of that: ErrTooLong, ErrDelimiter or ErrLength.
	//
	// Without Fault nothing is written for an error: a refused client sees its connection end, and
	// one whose request failed gets no frame for it. Leave it out only if replies say which request
	// they answer: a client that counts them would take the next one for the one it has missed.
	Fault func(out []byte, err error) []byte

	scratch []byte // the text of the last error
}

// scratchMax is how many bytes of scratch a connection keeps: texts are mostly shorter.
const scratchMax = 1 << 10

// refusalMax is how many bytes Refuse may append: so says channel.Codec.
const refusalMax = 1 << 10

// Decode reads one frame from the start of in: a request of a client, a reply of a server. It is
// Framing.Decode.
//
//alloc:none
func (c *Codec) Decode(in []byte, frame *[]byte) (n int, err error) {
	return c.Framing.Decode(in, frame)
}

// Need is Framing.Need.
//
//alloc:none
func (c *Codec) Need() int { return c.Framing.Need() }

// Size returns how many bytes Encode appends at most for the same result.
//
//alloc:none
func (c *Codec) Size(rep *[]byte, err error) int {
	payload, ok := c.result(rep, err)
	if !ok {
		return 0
	}
	return c.Framing.Size(payload)
}

// Encode appends the result of a request: the frame of *rep, or, if err isn't nil, of what Fault
// makes of it. If *rep can't be framed the client is told that error, by Fault; without Fault
// Encode panics, as it does if neither an error's text nor what is wrong with that can be framed.
//
//alloc:none
func (c *Codec) Encode(out []byte, rep *[]byte, err error) []byte {
	payload, ok := c.result(rep, err)
	if !ok {
		return out
	}
	out = c.Framing.Append(out, payload)
	c.trim()
	return out
}

// Refuse appends the frame of what Fault makes of err, before the connection ends. It appends
// nothing if that can't be framed, or takes more than 1 KiB.
//
//alloc:none
func (c *Codec) Refuse(out []byte, err error) []byte {
	if c.Fault == nil {
		return out
	}
	if text, bad := c.fault(err); bad == nil && c.Framing.Size(text) <= refusalMax {
		out = c.Framing.Append(out, text)
	}
	c.trim()
	return out
}

// RequestSize returns how many bytes AppendRequest appends at most: what a client needs.
//
//alloc:none
func (c *Codec) RequestSize(req *[]byte) int { return c.Framing.Size(*req) }

// AppendRequest appends the frame of a request, for a client. It panics if Framing.Check refuses
// the request.
//
//alloc:none
func (c *Codec) AppendRequest(out []byte, req *[]byte) []byte { return c.Framing.Append(out, *req) }

// result returns the payload for a result; false if nothing is to be written.
func (c *Codec) result(rep *[]byte, err error) (payload []byte, ok bool) {
	if err == nil {
		bad := c.Framing.Check(*rep)
		switch {
		case bad == nil:
			return *rep, true
		case c.Fault == nil:
			panic(bad)
		}
		err = bad
	}
	if c.Fault == nil {
		return nil, false
	}
	text, bad := c.fault(err)
	if bad != nil {
		panic(bad)
	}
	return text, true
}

// fault returns the text of err, in scratch, or that of what is wrong with it. If neither can be
// framed it returns why.
//
//go:noinline
func (c *Codec) fault(err error) (text []byte, bad error) {
	for range 2 {
		c.scratch = c.Fault(c.scratch[:0], err)
		if bad = c.Framing.Check(c.scratch); bad == nil {
			return c.scratch, nil
		}
		err = bad
	}
	return nil, bad
}

// trim drops a scratch that a long text has made long.
func (c *Codec) trim() {
	if cap(c.scratch) > scratchMax {
		c.scratch = nil
	}
}
