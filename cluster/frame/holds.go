package frame

// Hold says that the mailbox of an actor is full: nothing more is to be sent to it until RESUME.
type Hold struct {
	To uint64 // the number of the actor, of the reader's REF
}

// Append appends h as a frame.
//
//alloc:none
func (h *Hold) Append(dst []byte) []byte { return appendOne(dst, KindHold, h.To) }

// Read reads h from a HOLD.
//
//alloc:none
func (h *Hold) Read(r Raw) (err error) {
	h.To, err = readOne(r, KindHold)
	return err
}

// Resume ends what HOLD has begun.
type Resume struct {
	To uint64 // the number of the actor, of the reader's REF
}

// Append appends u as a frame.
//
//alloc:none
func (u *Resume) Append(dst []byte) []byte { return appendOne(dst, KindResume, u.To) }

// Read reads u from a RESUME.
//
//alloc:none
func (u *Resume) Read(r Raw) (err error) {
	u.To, err = readOne(r, KindResume)
	return err
}
