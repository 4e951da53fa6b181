package wire

import (
	"bytes"
	"reflect"
	"slices"
	"unsafe"
)

// Codec appends and reads the values of one type. Any goroutine may use it.
type Codec struct {
	shape  *shape
	schema []byte
	own    Decoder // of what Append appends
}

// Decoder reads the values of one type as one peer sends them, or as oneself does. Any goroutine
// may use it.
type Decoder struct {
	typ      reflect.Type
	ops      []op
	steps    []byte // in place of ops: of a peer's type that differs
	leaves   []leaf // of one's own, for steps
	releases bool   // the type has a method Release
	keeps    bool   // values refer to the bytes that they were read from
	calls    bool   // AppendWire, ReadWire, or a Foreign
}

// Of compiles the codec of a type: it takes microseconds, so keep it. Its error names the field
// that can't cross, and says why.
func Of(t reflect.Type) (*Codec, error) { return compile(t, littleEndian) }

// For is Of by a type parameter.
func For[T any]() (*Codec, error) { return Of(reflect.TypeFor[T]()) }

func compile(t reflect.Type, flat bool) (*Codec, error) {
	var b builder
	s, err := b.shape(t, t.String())
	if err != nil {
		return nil, err
	}
	c := &Codec{shape: s}
	c.schema = s.appendNode([]byte{schemaVersion})
	if len(c.schema) > schemaMax {
		return nil, refuse(t.String(), errLong)
	}
	planner{flat}.plan(s)
	if s.kind == kindCoded {
		s.ops[0].do = opWhole
	}
	c.own = Decoder{typ: t, ops: s.ops, releases: reflect.PointerTo(t).Implements(releasesType), keeps: keep(s.ops), calls: call(s.ops)}
	return c, nil
}

// Type returns the type whose values c appends and reads.
func (c *Codec) Type() reflect.Type { return c.shape.typ }

// Type returns the type whose values d reads.
func (d *Decoder) Type() reflect.Type { return d.typ }

// Decoder returns what reads the values that c appends.
func (c *Codec) Decoder() *Decoder { return &c.own }

// Keeps reports whether values that d reads refer to the bytes that they were read from.
func (d *Decoder) Keeps() bool { return d.keeps }

func keep(ops []op) bool {
	return slices.ContainsFunc(ops, func(o op) bool {
		switch o.do {
		case opBytes, opPoolBytes:
			return true
		case opCoded, opWhole:
			return o.coder.refers == nil
		}
		return keep(o.key) || keep(o.sub)
	})
}

// Calls reports whether reading a value, or appending one if d is a Codec's own, calls code that
// isn't this package's, and may panic: an AppendWire, a ReadWire, a Foreign or a Names.
func (d *Decoder) Calls() bool { return d.calls }

func call(ops []op) bool {
	return slices.ContainsFunc(ops, func(o op) bool {
		return o.do == opCoded || o.do == opWhole || call(o.key) || call(o.sub)
	})
}

// Append appends the value at v, which is of the codec's type, and returns the extended slice. It
// allocates for maps, and when dst has no room. It panics if the value has references.
//
//alloc:none
func (c *Codec) Append(dst []byte, v unsafe.Pointer) []byte { return c.AppendBy(nil, dst, v) }

// AppendBy is Append of a value that may have references, which n codes.
//
//alloc:none
func (c *Codec) AppendBy(n Names, dst []byte, v unsafe.Pointer) []byte {
	return appendOps(n, dst, c.own.ops, v)
}

// Read reads what Append has appended: see Decoder.Read.
//
//alloc:none
func (c *Codec) Read(r *Reader, v unsafe.Pointer) error { return c.own.Read(r, v) }

// Read reads a value into v, which is of the decoder's type and zero. It returns the error of r.
// After one the value holds what was read before: it is good for nothing but Release.
//
// If the type has a method Release, each pool.Bytes of the value has a count of its own, which that
// releases; that is so for the whole of a message, whatever the types of its fields are.
//
//alloc:none
func (d *Decoder) Read(r *Reader, v unsafe.Pointer) error {
	outer := !r.reading // or it is called by a ReadWire
	if outer {
		r.reading, r.counted = true, d.releases
	}
	if len(d.steps) == 0 {
		r.run(d.ops, v)
	} else {
		r.follow(d.steps, d.leaves, v)
	}
	if outer {
		r.reading = false
	}
	return r.err
}

// AppendSchema appends what a peer's Translate needs to know of the type, at most 64 KiB.
func (c *Codec) AppendSchema(dst []byte) []byte { return append(dst, c.schema...) }

// Translate returns what reads values that a peer has sent whose type is as schema says. Fields are
// matched by name; those that are unknown here are skipped, be it two of one name; those that are
// absent there stay zero. Matched ones must be of the same kind: a wider or narrower integer is
// another, and so is an array of another length; int is int64, []byte and pool.Bytes are one.
// Hand-coded types must have the same name, with the path of their package. Keys of a map that
// differ only in what is unknown here are ErrDuplicate. The error names the field.
//
// A schema may be any bytes. Keep the result: Translate looks for each field by its name. Beside a
// few words its memory is about twice the schema's at most, and mostly much less.
func (c *Codec) Translate(schema []byte) (*Decoder, error) {
	if bytes.Equal(schema, c.schema) {
		return &c.own, nil
	}
	if err := checkSchema(schema); err != nil {
		return nil, err
	}
	t, err := c.translate(schema)
	if err != nil {
		return nil, err
	}
	return &Decoder{
		typ: c.own.typ, steps: t.steps, leaves: c.shape.leaves, releases: c.own.releases, keeps: t.keeps, calls: t.calls,
	}, nil
}

// Append is c.Append of a value whose type the compiler knows.
func Append[T any](c *Codec, dst []byte, v *T) []byte {
	typed[T](c.Type())
	return c.Append(dst, unsafe.Pointer(v))
}

// AppendBy is c.AppendBy of a value whose type the compiler knows.
func AppendBy[T any](c *Codec, n Names, dst []byte, v *T) []byte {
	typed[T](c.Type())
	return c.AppendBy(n, dst, unsafe.Pointer(v))
}

// Read is c.Read, of a Codec or a Decoder, into a value whose type the compiler knows.
func Read[T any](c interface {
	Type() reflect.Type
	Read(r *Reader, v unsafe.Pointer) error
}, r *Reader, v *T) error {
	typed[T](c.Type())
	return c.Read(r, unsafe.Pointer(v))
}

func typed[T any](t reflect.Type) {
	if t != reflect.TypeFor[T]() {
		panic("wire: a codec of another type")
	}
}
