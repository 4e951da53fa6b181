package resp

// crlf is the length of the end of a line.
const crlf = len("\r\n")

// Args reads the arguments of a Command one after the other, in constant time each, however many
// there are. It aliases the bytes that the Command aliased when Args was called. It is a value: a
// copy of it reads on its own.
type Args struct {
	raw    []byte
	off    int // where the next argument's length line or blanks begin
	left   int // arguments not read yet
	inline bool
}

// Args returns a reader of the arguments from argument i on; 1 leaves out the command's name. If i
// is Len() or more there are none. It panics if i is negative.
//
//alloc:none
func (c *Command) Args(i int) Args {
	args := Args{raw: c.raw, left: c.argc - i, inline: c.inline}
	switch {
	case i < 0:
		outOfRange()
	case i >= c.argc:
		args.left = 0
	case i == 0:
		args.off = c.first()
	default:
		k := min(i, cached)
		args.off = int(c.at[k-1].to)
		if !c.inline {
			args.off += crlf
		}
		args.left = c.argc - k
		for range i - k {
			args.Next()
		}
	}
	return args
}

// Len returns how many arguments are left.
//
//alloc:none
func (a *Args) Len() int { return a.left }

// Next returns the next argument, or false at the end.
//
//alloc:none
func (a *Args) Next() ([]byte, bool) {
	if a.left == 0 {
		return nil, false
	}
	a.left--
	if a.inline {
		return a.word(), true
	}
	i, size := a.off+1, 0 // behind the '$'
	for ; a.raw[i] != '\r'; i++ {
		size = size*10 + int(a.raw[i]-'0')
	}
	from := i + crlf
	to := from + size
	a.off = to + crlf
	return a.raw[from:to:to], true
}

// word does for an inline request what Next does.
func (a *Args) word() []byte {
	from, to := word(a.raw, a.off)
	a.off = to
	return a.raw[from:to:to]
}

// end returns where the argument ends that was read last.
func (a *Args) end() int {
	if a.inline {
		return a.off
	}
	return a.off - crlf
}
