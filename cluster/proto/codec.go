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
	c.coded = c.coded && !recurs(is, nil, map[protoreflect.FullName]bool{})
	if kind, ok := reuse.Load(t); ok {
		c.again = kind.(*pool.Kind)
	}
	return c
}

// Reuse has messages of the type M, a pointer, used again once the stack of their call has ended:
// who keeps one for longer clones it. Call it in a variable or an init function, before a node
// starts. It returns true, for a variable to have.
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
}

func newKind(of proto.Message) *pool.Kind {
	size := unsafe.Sizeof(reused{})
	return pool.NewKind(string(of.ProtoReflect().Descriptor().FullName()), pool.Layout{Size: size, Fixed: size},
		func() *pool.Object { return &(&reused{message: fresh(of)}).Object },
		func(o *pool.Object) { proto.Reset((*reused)(unsafe.Pointer(o)).message) })
}

func fresh(of proto.Message) proto.Message { return of.ProtoReflect().New().Interface() }

// recurs reports whether messages of a type may have such within, to any depth: UnmarshalVT has no
// limit there, and the stack of a goroutine that runs out of it ends the process. within are those
// that it is in, and done those that don't.
func recurs(is protoreflect.MessageDescriptor, within []protoreflect.FullName, done map[protoreflect.FullName]bool) bool {
	if slices.Contains(within, is.FullName()) {
		return true
	}
	if done[is.FullName()] {
		return false
	}
	within = append(within, is.FullName())
	for i := range is.Fields().Len() {
		if m := is.Fields().Get(i).Message(); m != nil && recurs(m, within, done) {
			return true
		}
	}
	done[is.FullName()] = true
	return false
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
	n := m.SizeVT()
	dst = slices.Grow(dst, n)
	n, err := m.MarshalToSizedBufferVT(dst[len(dst) : len(dst)+n])
	if err != nil {
		panic(err)
	}
	return dst[:len(dst)+n]
}

// Read implements wire.Foreign.
func (c *codec) Read(r *wire.Reader) any {
	m := c.take(r)
	if err := c.read(r.Rest(), m); err != nil {
		r.Fail(err)
	}
	return m
}

// read reads into an empty message.
func (c *codec) read(text []byte, m proto.Message) error {
	if c.coded {
		return m.(coded).UnmarshalVT(text)
	}
	return proto.UnmarshalOptions{Merge: true}.Unmarshal(text, m)
}

// take returns an empty message.
func (c *codec) take(r *wire.Reader) proto.Message {
	if c.again != nil {
		if o := r.Keep(c.again); o != nil {
			return (*reused)(unsafe.Pointer(o)).message
		}
	}
	return fresh(c.of)
}
