package resp

import "bytes"

// cached is how many arguments a Command finds without walking. Only variadic commands of Redis
// have more.
const cached = 8

// span is a range of Command.raw. Requests are shorter than 2 GiB (see Limits).
type span struct{ from, to uint32 }

// Command is a decoded request. It aliases the bytes that it was decoded from and is valid as long
// as they are unchanged; it may be copied by value. The zero Command is an empty request.
type Command struct {
	raw    []byte
	argc   int
	at     [cached]span // Invariant: at[:min(argc, cached)] are ranges of raw
	inline bool         // arguments are separated by blanks, not preceded by lengths
}

// Len returns the number of arguments, the command's name included. An empty
// request has 0.
//
//alloc:none
func (c *Command) Len() int { return c.argc }

// Arg returns argument i; 0 is the command's name. It takes constant time for i below 8; above, it
// walks over the arguments before i, which Args does once for all. It panics unless 0 <= i < Len().
//
//alloc:none
func (c *Command) Arg(i int) []byte {
	if uint(i) >= uint(c.argc) {
		outOfRange()
	}
	if i >= cached {
		return c.walk(i)
	}
	a := c.at[i]
	return c.raw[a.from:a.to:a.to]
}

//go:noinline
func outOfRange() { panic("resp: argument out of range") }

// walk finds an argument that isn't cached.
//
//go:noinline
func (c *Command) walk(i int) []byte {
	args := c.Args(cached)
	for range i - cached {
		args.Next()
	}
	arg, _ := args.Next()
	return arg
}

// Is reports whether name is the command's name. Case is ignored in ASCII letters.
//
//alloc:none
func (c *Command) Is(name string) bool {
	if c.argc == 0 {
		return false
	}
	a := c.at[0]
	return EqualFold(c.raw[a.from:a.to], name)
}

// Raw returns the bytes that the command aliases. They are the bytes of the request as received; of
// an inline request with quotes they are a multibulk request with the same arguments.
//
//alloc:none
func (c *Command) Raw() []byte { return c.raw }

// Rebase makes the command alias in, which must begin with a copy of Raw().
//
//alloc:none
func (c *Command) Rebase(in []byte) { c.raw = in[:len(c.raw):len(c.raw)] }

// index fills the cache from raw, a well-formed request.
func (c *Command) index() {
	args := Args{raw: c.raw, off: c.first(), left: c.argc, inline: c.inline}
	for i := range min(c.argc, cached) {
		arg, _ := args.Next()
		end := args.end()
		c.at[i] = span{uint32(end - len(arg)), uint32(end)}
	}
}

// first returns where Args begins to read the first argument.
func (c *Command) first() int {
	if c.inline {
		return 0
	}
	return bytes.IndexByte(c.raw, '\n') + 1
}

// EqualFold reports whether b and s are equal if case is ignored in ASCII letters, as in names of
// commands and of their options.
//
//alloc:none
func EqualFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		switch c ^ s[i] {
		case 0:
		case 'a' - 'A':
			if c |= 'a' - 'A'; c < 'a' || c > 'z' {
				return false
			}
		default:
			return false
		}
	}
	return true
}
