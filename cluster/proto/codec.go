package proto

import (
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/pool"
)

// codec is what codes the messages of one type.
type codec struct {
	of    proto.Message // a nil pointer
	name  string
	again *pool.Kind // of reused; nil: each message is fresh
	flat  *flat      // nil: messages aren't flat
	coded bool       // it has code of its own
}

// coded is what vtprotobuf generates for a type: the same bytes as those of package proto, by
// straight code.
type coded interface {
	SizeVT() int
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
}

var messageType = reflect.TypeFor[proto.Message]()

// reuse has the types for which Reuse was called.
var reuse sync.Map

func init() { wire.Register(codecOf) }

func codecOf(t reflect.Type) wire.Foreign {
	if !t.Implements(messageType) {
		return nil
	}
	of := reflect.Zero(t).Interface().(proto.Message)
	is := of.ProtoReflect().Descriptor()
	c := &codec{of: of, name: "proto:" + string(is.FullName())}
	_, c.coded = of.(coded)
	c.coded = c.coded && straight(is, nil, map[protoreflect.FullName]bool{})
	c.flat = flatOf(t.Elem(), is)
	if kind, ok := reuse.Load(t); ok {
		c.again = kind.(*pool.Kind)
	}
	return c
}

// Reuse has messages of the type M, a pointer, used again once the stack of their call has ended:
// who keeps one for longer clones it. Call it before a node starts, in a variable or an init
// function, though not in those of the package of M itself, which may not be ready then. It returns
// true, for a variable to have.
func Reuse[M proto.Message]() bool {
	t := reflect.TypeFor[M]()
	var of M
	reuse.LoadOrStore(t, newKind(of))
	return true
}

// reused is a message that is used again.
type reused struct {
	pool.Object
	message proto.Message
	room    []byte // empty; of bytes of the message, if it is flat
}

// keptMax is the longest text for whose bytes room is kept, for the next message.
const keptMax = 1 << 10

// roomFor returns room for the bytes of a text of n bytes. r is nil for a fresh message.
func (r *reused) roomFor(n int) []byte {
	if r == nil || n > keptMax {
		return make([]byte, 0, n)
	}
	if cap(r.room) < n {
		r.room = make([]byte, 0, pool.Size(n))
	}
	return r.room
}

func newKind(of proto.Message) *pool.Kind {
	is, size := of.ProtoReflect().Descriptor(), unsafe.Sizeof(reused{})
	f := flatOf(reflect.TypeOf(of).Elem(), is)
	return pool.NewKind(string(is.FullName()), pool.Layout{Size: size, Fixed: size},
		func() *pool.Object { return &(&reused{message: fresh(of)}).Object },
		func(o *pool.Object) {
			if m := (*reused)(unsafe.Pointer(o)).message; f != nil {
				f.reset(placeOf(m))
			} else {
				proto.Reset(m)
			}
		})
}

// placeOf returns where a message is.
func placeOf(m proto.Message) unsafe.Pointer { return reflect.ValueOf(m).UnsafePointer() }

func fresh(of proto.Message) proto.Message { return of.ProtoReflect().New().Interface() }

// straight reports whether generated code may be used for messages of a type, and all within them.
// It may not be where
//
//	a message may have one of its own type within, at any depth: UnmarshalVT has no limit there, and
//	    a goroutine whose stack is too long ends the process
//	there is a map: UnmarshalVT doesn't see the end of an entry, and so makes the square of what it
//	    is given
//	there may be extensions: MarshalToSizedBufferVT leaves them out
//
// within are the types that it is in, and done those for which it holds.
func straight(is protoreflect.MessageDescriptor, within []protoreflect.FullName, done map[protoreflect.FullName]bool) bool {
	switch {
	case slices.Contains(within, is.FullName()) || is.IsMapEntry() || is.ExtensionRanges().Len() > 0:
		return false
	case done[is.FullName()]:
		return true
	}
	within = append(within, is.FullName())
	for i := range is.Fields().Len() {
		if m := is.Fields().Get(i).Message(); m != nil && !straight(m, within, done) {
			return false
		}
	}
	done[is.FullName()] = true
	return true
}

// Name implements wire.Foreign.
func (c *codec) Name() string { return c.name }

// Append implements wire.Foreign.
func (c *codec) Append(dst []byte, v any) []byte {
	if c.coded {
		return appendCoded(dst, v.(coded))
	}
	out, err := proto.MarshalOptions{}.MarshalAppend(dst, v.(proto.Message))
	if err != nil {
		panic(err)
	}
	return out
}

func appendCoded(dst []byte, m coded) []byte {
	size := m.SizeVT()
	dst = slices.Grow(dst, size)
	switch n, err := m.MarshalToSizedBufferVT(dst[len(dst) : len(dst)+size]); {
	case err != nil:
		panic(err)
	case n != size:
		panic("proto: a message has changed while it was written")
	}
	return dst[:len(dst)+size]
}

// Read implements wire.Foreign.
func (c *codec) Read(r *wire.Reader) any {
	text := r.Rest()
	again := c.take(r)
	var m proto.Message
	if again != nil {
		m = again.message
	} else {
		m = fresh(c.of)
	}
	if err := c.read(text, m, again); err != nil {
		r.Fail(err)
	}
	return m
}

// take returns an empty message that is used again; nil if the message must be fresh.
func (c *codec) take(r *wire.Reader) *reused {
	if c.again == nil {
		return nil
	}
	return (*reused)(unsafe.Pointer(r.Keep(c.again)))
}

// read reads into an empty message, that of again, or a fresh one.
func (c *codec) read(text []byte, m proto.Message, again *reused) error {
	if c.flat != nil {
		var room []byte
		if c.flat.hasBytes {
			room = again.roomFor(len(text))
		}
		if c.flat.read(text, room, placeOf(m)) {
			return nil
		}
	}
	if c.coded { // reads all of it again
		return m.(coded).UnmarshalVT(text)
	}
	return proto.UnmarshalOptions{Merge: true}.Unmarshal(text, m)
}
