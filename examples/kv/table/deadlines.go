package table

// deadlines are those of the entries that have one, in no order, in pages: a
// list that grows without copying. An entry knows its position and is known by
// its location, so both ends are found at once.
type deadlines struct {
	pages []*deadlinePage
	count int
	next  int // the one below is looked at next; may be above count
}

type deadlinePage [deadlinesInPage]deadline

type deadline struct {
	when  int64
	entry uint64 // its location
}

const (
	deadlinesInPage = 256
	deadlineBytes   = 16
)

func (d *deadlines) at(i uint64) *deadline {
	return &d.pages[i/deadlinesInPage][i%deadlinesInPage]
}

// add returns the position of a new deadline.
//
//alloc:none
func (d *deadlines) add(when int64, entry uint64) uint64 {
	i := uint64(d.count)
	if d.count == len(d.pages)*deadlinesInPage {
		d.addPage()
	}
	*d.at(i) = deadline{when, entry}
	d.count++
	return i
}

//go:noinline
func (d *deadlines) addPage() { d.pages = append(d.pages, new(deadlinePage)) }

// remove takes out the deadline at i and puts the last one there. It returns the
// location of that one's entry, to be told. If i is the last itself, its entry is
// told once more what it is about to forget.
//
//alloc:none
func (d *deadlines) remove(i uint64) uint64 {
	d.count--
	last := *d.at(uint64(d.count))
	if d.count <= (len(d.pages)-2)*deadlinesInPage { // one page stays for the next
		d.pages[len(d.pages)-1] = nil
		d.pages = d.pages[:len(d.pages)-1]
	}
	*d.at(i) = last
	return last.entry
}

// look returns the next deadline to look at, of at least one. It goes downwards:
// remove fills gaps from above, where it has been, so within two passes it has
// looked at all.
func (d *deadlines) look() *deadline {
	if d.next = min(d.next, d.count); d.next == 0 {
		d.next = d.count
	}
	d.next--
	return d.at(uint64(d.next))
}

// reset forgets everything.
func (d *deadlines) reset() { *d = deadlines{} }

func (d *deadlines) bytes() int { return len(d.pages) * deadlinesInPage * deadlineBytes }
