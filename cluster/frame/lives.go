package frame

// Watch asks to hear, by GONE, when an actor has stopped.
type Watch struct {
	To uint64 // the number of the actor
}

// Append appends w as a frame.
//
//alloc:none
func (w *Watch) Append(dst []byte) []byte { return appendOne(dst, KindWatch, w.To) }

// Read reads w from a WATCH.
//
//alloc:none
func (w *Watch) Read(r Raw) (err error) {
	w.To, err = readOne(r, KindWatch)
	return err
}

// Unwatch takes a WATCH back. A GONE may be on its way already.
type Unwatch struct {
	To uint64 // the number of the actor
}

// Append appends u as a frame.
//
//alloc:none
func (u *Unwatch) Append(dst []byte) []byte { return appendOne(dst, KindUnwatch, u.To) }

// Read reads u from an UNWATCH.
//
//alloc:none
func (u *Unwatch) Read(r Raw) (err error) {
	u.To, err = readOne(r, KindUnwatch)
	return err
}

// Command tells an actor what it is to do: to stop, to go on.
type Command struct {
	To   uint64 // the number of the actor
	Code uint64 // as the runtime numbers commands; one that isn't known is passed over
}

// Append appends c as a frame.
//
//alloc:none
func (c *Command) Append(dst []byte) []byte {
	start := len(dst)
	dst = open(dst, KindCommand, 0)
	dst = appendNumber(dst, c.To)
	return closed(appendNumber(dst, c.Code), start)
}

// Read reads c from a COMMAND.
//
//alloc:none
func (c *Command) Read(r Raw) error {
	f := fieldsOf(r, KindCommand)
	c.To = f.number()
	c.Code = f.number()
	return f.end()
}

// Gone says that an actor has stopped, to who has declared it.
type Gone struct {
	To uint64 // the number of the actor, of the reader's REF
}

// Append appends g as a frame.
//
//alloc:none
func (g *Gone) Append(dst []byte) []byte { return appendOne(dst, KindGone, g.To) }

// Read reads g from a GONE.
//
//alloc:none
func (g *Gone) Read(r Raw) (err error) {
	g.To, err = readOne(r, KindGone)
	return err
}
