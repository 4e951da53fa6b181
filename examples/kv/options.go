package main

import (
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
)

// option is a set of options of SET or GETEX.
type option uint16

const (
	optNX option = 1 << iota
	optXX
	optGet
	optKeep
	optPersist
	optEX
	optPX
	optEXAT
	optPXAT

	optTimes = optEX | optPX | optEXAT | optPXAT
	ofSet    = optNX | optXX | optGet | optKeep | optTimes
	ofGetEx  = optPersist | optTimes
)

// optionNames are the options, each with those that it excludes.
var optionNames = [...]struct {
	name    string
	is, not option
}{
	{"nx", optNX, optXX},
	{"xx", optXX, optNX},
	{"get", optGet, 0},
	{"keepttl", optKeep, optPersist | optTimes},
	{"persist", optPersist, optKeep | optTimes},
	{"ex", optEX, optKeep | optPersist | optTimes&^optEX},
	{"px", optPX, optKeep | optPersist | optTimes&^optPX},
	{"exat", optEXAT, optKeep | optPersist | optTimes&^optEXAT},
	{"pxat", optPXAT, optKeep | optPersist | optTimes&^optPXAT},
}

// stringOptions are the options of one command.
type stringOptions struct {
	is   option
	time []byte // the argument of EX, PX, EXAT or PXAT
}

func (o stringOptions) timed() bool { return o.is&optTimes != 0 }

func (o stringOptions) flags() (flags table.Flags) {
	if o.is&optNX != 0 {
		flags |= table.IfAbsent
	}
	if o.is&optXX != 0 {
		flags |= table.IfPresent
	}
	if o.is&optKeep != 0 {
		flags |= table.KeepTTL
	}
	return flags
}

// parseOptions reads the options from argument i on; has are those that the command knows. It
// reports false if the options make no sense.
func parseOptions(cmd *resp.Command, i int, has option) (o stringOptions, ok bool) {
	words := cmd.Args(i)
	for arg, there := words.Next(); there; arg, there = words.Next() {
		known := false
		for _, n := range &optionNames {
			if n.is&has == 0 || !resp.EqualFold(arg, n.name) {
				continue
			}
			known = o.is&n.not == 0
			if n.is&optTimes != 0 {
				o.time, there = words.Next()
				known = known && there
			}
			o.is |= n.is
			break
		}
		if !known {
			return o, false
		}
	}
	return o, true
}
