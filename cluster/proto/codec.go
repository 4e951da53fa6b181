package proto

import (
	"reflect"
	"sync"
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/pool"
)

// codec is what codes the messages of one type.
type codec struct {
	of    proto.Message // a nil pointer
	name  string
	again *pool.Kind // of reused; nil: each message is fresh
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
	c := &codec{of: of, name: "proto:" + string(of.ProtoReflect().Descriptor().FullName())}
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

// Name implements wire.Foreign.
func (c *codec) Name() string { return c.name }

// Append implements wire.Foreign.
func (c *codec) Append(dst []byte, v any) []byte {
	out, err := proto.MarshalOptions{}.MarshalAppend(dst, v.(proto.Message))
	if err != nil {
		panic(err)
	}
	return out
}

// Read implements wire.Foreign.
func (c *codec) Read(r *wire.Reader) any {
	m := c.take(r)
	if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(r.Rest(), m); err != nil {
		r.Fail(err)
	}
	return m
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
