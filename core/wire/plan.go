package wire

import (
	"fmt"
	"reflect"
	"strconv"
)

// what an op does with the bytes, and with the value's memory.
type what uint8

const (
	opCopy     what = iota // n bytes of memory are the bytes
	opBools                // n bytes of memory, copied before, are bools: they are looked at
	opNumber16             // n numbers of 16 bits, where memory is another order
	opNumber32
	opNumber64
	opInt  // an int of 32 bits
	opUint // a uint of 32 bits
	opString
	opBytes     // a []byte
	opPoolBytes // a pool.Bytes
	opTime
	opCoded // a value of a type that is coded by hand, by a Foreign or by Names, behind its length
	opWhole // the same, as all of the message
	opArray
	opSlice // a slice
	opMap
	opFiller // a byte 0 in place of an element that has no bytes

	opSkip // what a peer sends and has no place here; only read
)

// op is one thing to do when a value is appended or read.
type op struct {
	do     what
	at     uintptr // where in the memory of the value, in bytes
	n      int     // bytes, numbers, or elements of an array
	least  int     // the fewest bytes of an element or entry
	stride uintptr // the memory of an element, in bytes
	dense  bool    // the memory of elements is their bytes
	key    []op    // of maps
	sub    []op    // of elements
	typ    reflect.Type
	hand   Coded // a nil pointer; nil: foreign codes it, or refers

	foreign Foreign
	none    any // a nil pointer of its type
	refers  *reference

	skip skip
}

// narrow says that int and uint have 32 bits of memory.
const narrow = strconv.IntSize == 32

// planner makes the ops for one's own shape from the bytes of a peer, whose schema may be the same.
type planner struct {
	flat bool         // the memory of numbers is their encoding
	peer schemaReader // stands before the node of what is planned next
	ops  []op
	room []byte // without length: for the steps of skips
}

// value plans a value at the offset at, in bytes. Its error names the path.
func (p *planner) value(own *shape, at uintptr, path string) error {
	k := kind(p.peer.Uint8())
	if k != own.kind {
		return refuse(path, fmt.Sprintf("%v there, %v here", k, own.kind))
	}
	switch k {
	case kindStruct:
		return p.fields(own, at, path)
	case kindArray:
		return p.array(own, at, path)
	case kindSlice, kindMap:
		return p.many(own, at, path)
	case kindCoded:
		return p.coded(own, at, path)
	case kindBool:
		p.copy(at, 1)
		p.bools(at, 1)
	case kindTime:
		p.add(op{do: opTime, at: at})
	case kindString:
		p.add(op{do: opString, at: at})
	case kindBytes:
		do := opBytes
		if own.typ == bytesType {
			do = opPoolBytes
		}
		p.add(op{do: do, at: at})
	default:
		p.number(own, at)
	}
	return nil
}

func (p *planner) add(o op) { p.ops = append(p.ops, o) }

func (p *planner) number(own *shape, at uintptr) {
	n, width := own.kind.parts()
	switch k := own.typ.Kind(); {
	case k == reflect.Int && narrow:
		p.add(op{do: opInt, at: at})
	case k == reflect.Uint && narrow:
		p.add(op{do: opUint, at: at})
	case p.flat || width == 1:
		p.copy(at, n*width)
	default:
		p.add(op{do: [...]what{2: opNumber16, 4: opNumber32, 8: opNumber64}[width], at: at, n: n})
	}
}

// copy plans n bytes that are memory, as a part of such ones just before if possible.
func (p *planner) copy(at uintptr, n int) {
	i := len(p.ops) - 1
	for i >= 0 && p.ops[i].do == opBools {
		i--
	}
	if i >= 0 && p.ops[i].do == opCopy && p.ops[i].at+uintptr(p.ops[i].n) == at {
		p.ops[i].n += n
		return
	}
	p.add(op{do: opCopy, at: at, n: n})
}

// bools plans that n bytes, which are copied already, are looked at.
func (p *planner) bools(at uintptr, n int) {
	if i := len(p.ops) - 1; p.ops[i].do == opBools && p.ops[i].at+uintptr(p.ops[i].n) == at {
		p.ops[i].n += n
		return
	}
	p.add(op{do: opBools, at: at, n: n})
}

func (p *planner) coded(own *shape, at uintptr, path string) error {
	if name := p.peer.sized(); string(name) != own.name {
		return refuse(path, fmt.Sprintf("%q there, %q here", name[:min(len(name), len(own.name)+100)], own.name))
	}
	o := op{do: opCoded, at: at, hand: own.hand, foreign: own.foreign, refers: own.refers}
	if o.foreign != nil {
		o.typ, o.none = own.typ, reflect.Zero(own.typ).Interface()
	}
	p.add(o)
	return nil
}

func (p *planner) fields(own *shape, at uintptr, path string) error {
	found := make([]bool, len(own.fields))
	for range p.peer.Uvarint() {
		i := own.field(p.peer.sized())
		if i < 0 {
			p.skip()
			continue
		}
		f := &own.fields[i]
		if found[i] {
			return refuse(path+"."+f.name, errName)
		}
		found[i] = true
		if err := p.value(f.shape, at+f.at, path+"."+f.name); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) array(own *shape, at uintptr, path string) error {
	n := int(p.peer.Uvarint())
	if n != own.size {
		return refuse(path, fmt.Sprintf("an array of %d there, of %d here", n, own.size))
	}
	sub, err := p.within(own.elem, path+"[]")
	stride := own.elem.typ.Size()
	switch {
	case err != nil || len(sub) == 0 || n == 0:
	case dense(sub, stride):
		p.copy(at, n*int(stride))
	case own.elem.kind == kindBool:
		p.copy(at, n)
		p.bools(at, n)
	default:
		p.add(op{do: opArray, at: at, n: n, stride: stride, sub: sub})
	}
	return err
}

// many plans a slice or a map.
func (p *planner) many(own *shape, at uintptr, path string) (err error) {
	o := op{do: opSlice, at: at, typ: own.typ, stride: own.elem.typ.Size()}
	if own.kind == kindMap {
		o.do = opMap
		o.least = p.peer.ahead().least
		if o.key, err = p.within(own.key, path+"[key]"); err != nil {
			return err
		}
	}
	o.least += p.peer.ahead().least
	if o.sub, err = p.within(own.elem, path+"[]"); err != nil {
		return err
	}
	if o.least == 0 {
		o.least, o.sub = 1, append(o.sub, op{do: opFiller})
	}
	o.dense = dense(o.sub, o.stride)
	p.add(o)
	return nil
}

// within plans what stands in memory of its own.
func (p *planner) within(own *shape, path string) ([]op, error) {
	outer := p.ops
	p.ops = nil
	err := p.value(own, 0, path)
	sub := p.ops
	p.ops = outer
	return sub, err
}

// dense reports whether ops copy a whole element of that many bytes.
func dense(ops []op, stride uintptr) bool {
	return len(ops) == 1 && ops[0].do == opCopy && ops[0].n == int(stride)
}

// skip plans that a value of the peer's next node is skipped, together with those just before. One
// that has no bytes is none.
func (p *planner) skip() {
	if p.room == nil {
		p.room = make([]byte, 0, 2*len(p.peer.in)) // enough: see skip
	}
	last := len(p.ops) - 1
	more := last >= 0 && p.ops[last].do == opSkip
	s := skip{steps: p.room}
	if more {
		s = p.ops[last].skip
	}
	s.add(&p.peer)
	p.room = s.steps[len(s.steps):]
	switch {
	case more:
		p.ops[last].skip = s
	case len(s.steps) > 0 || s.tail > 0:
		p.add(op{do: opSkip, skip: s})
	}
}
