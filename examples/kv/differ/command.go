package main

import (
	"strconv"
	"strings"
)

// command is a request: its name, in any case, and its arguments.
type command []string

// name is the command's name in capitals.
func (c command) name() string { return strings.ToUpper(c[0]) }

// String writes the command as one types it into redis-cli.
func (c command) String() string {
	var b strings.Builder
	for i, arg := range c {
		if i > 0 {
			b.WriteByte(' ')
		}
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\'' || r == '\\' }) {
			arg = quote(arg)
		}
		b.WriteString(arg)
	}
	return b.String()
}

func quote(arg string) string {
	const hex = "0123456789abcdef"
	b := []byte{'"'}
	for i := range len(arg) {
		switch c := arg[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~':
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// sent is a command with where it was sent: commands of one batch went in one write.
type sent struct {
	command
	conn, batch int
}

func (s sent) String() string {
	return "conn " + strconv.Itoa(s.conn) + ": " + s.command.String()
}

// touches reports whether two commands have an argument in common, behind their
// names.
func (c command) touches(o command) bool {
	for _, a := range c[1:] {
		for _, b := range o[1:] {
			if a == b {
				return true
			}
		}
	}
	return false
}
