package wire

import (
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

	// What a peer sends and has no place here; only read.
	opSkip      // n bytes
	opSkipSized // behind a length
	opSkipBytes // behind a length and 1
	opSkipEach  // elements behind their number and 1
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
}

// narrow says that int and uint have 32 bits of memory.
const narrow = strconv.IntSize == 32

// planner makes the ops for one's own shape from the bytes of a peer's, which may be the same.
type planner struct {
	flat bool // the memory of numbers is their encoding
	ops  []op
}

// value plans a value at the offset at, in bytes. Its error names the path.
func (p *planner) value(peer, own *shape, at uintptr, path string) error {
	if why := peer.differs(own); why != "" {
		return refuse(path, why)
	}
	switch peer.kind {
	case kindStruct:
		return p.fields(peer, own, at, path)
	case kindArray:
		return p.array(peer, own, at, path)
	case kindSlice, kindMap:
		return p.many(peer, own, at, path)
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
	case kindCoded:
		o := op{do: opCoded, at: at, hand: own.hand, foreign: own.foreign, refers: own.refers}
		if o.foreign != nil {
			o.typ, o.none = own.typ, reflect.Zero(own.typ).Interface()
		}
		p.add(o)
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

func (p *planner) fields(peer, own *shape, at uintptr, path string) error {
	for _, f := range peer.fields {
		if to := own.field(f.name); to == nil {
			p.skip(f.shape)
		} else if err := p.value(f.shape, to.shape, at+to.at, path+"."+f.name); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) array(peer, own *shape, at uintptr, path string) error {
	sub, err := p.within(peer.elem, own.elem, path+"[]")
	stride := own.elem.typ.Size()
	switch {
	case err != nil || len(sub) == 0 || peer.size == 0:
	case dense(sub, stride):
		p.copy(at, peer.size*int(stride))
	case peer.elem.kind == kindBool:
		p.copy(at, peer.size)
		p.bools(at, peer.size)
	default:
		p.add(op{do: opArray, at: at, n: peer.size, stride: stride, sub: sub})
	}
	return err
}

// many plans a slice or a map.
func (p *planner) many(peer, own *shape, at uintptr, path string) (err error) {
	o := op{do: opSlice, at: at, typ: own.typ, stride: own.elem.typ.Size(), least: peer.elem.least}
	if peer.kind == kindMap {
		o.do = opMap
		o.least += peer.key.least
		if o.key, err = p.within(peer.key, own.key, path+"[key]"); err != nil {
			return err
		}
	}
	if o.sub, err = p.within(peer.elem, own.elem, path+"[]"); err != nil {
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
func (p *planner) within(peer, own *shape, path string) ([]op, error) {
	sub := planner{flat: p.flat}
	err := sub.value(peer, own, 0, path)
	return sub.ops, err
}

// dense reports whether ops copy a whole element of that many bytes.
func dense(ops []op, stride uintptr) bool {
	return len(ops) == 1 && ops[0].do == opCopy && ops[0].n == int(stride)
}

// skip plans that a value of a peer is skipped.
func (p *planner) skip(peer *shape) {
	if peer.fixed {
		p.skipBytes(peer.least)
		return
	}
	switch peer.kind {
	case kindStruct:
		for _, f := range peer.fields {
			p.skip(f.shape)
		}
	case kindArray:
		p.add(op{do: opArray, n: peer.size, sub: skipOf(peer.elem)})
	case kindSlice, kindMap:
		o := op{do: opSkipEach, least: max(peer.elem.least, 1), sub: skipOf(peer.elem)}
		if peer.kind == kindMap {
			o.least = max(peer.elem.least+peer.key.least, 1)
			o.sub = append(skipOf(peer.key), o.sub...)
		}
		if len(o.sub) == 0 {
			o.sub = []op{{do: opFiller}}
		}
		p.add(o)
	case kindBytes:
		p.add(op{do: opSkipBytes})
	default:
		p.add(op{do: opSkipSized})
	}
}

// skipBytes plans that n bytes are skipped, together with such ones just before.
func (p *planner) skipBytes(n int) {
	if i := len(p.ops) - 1; i >= 0 && p.ops[i].do == opSkip {
		p.ops[i].n += n
	} else if n > 0 {
		p.add(op{do: opSkip, n: n})
	}
}

func skipOf(peer *shape) []op {
	var p planner
	p.skip(peer)
	return p.ops
}
