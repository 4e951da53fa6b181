package cluster

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/stack"
)

// method is a contract as this node writes it.
type method struct {
	*core.Contract
	number  uint64 // from 1, in order of names
	request *wire.Codec
	reply   *wire.Codec // nil: it is of notices
	declare []byte      // the METHOD
}

// catalogue is all methods of this process. It is never changed.
type catalogue struct {
	all    []*method // by number - 1
	byName map[string]*method
	keyed  *method                 // keyedMethod
	kinds  map[string]reflect.Type // of actors that handle any here, or that messages are about
}

// Actor stands for an actor of another node, of whatever type: core.As[Actor] is true of each.
type Actor struct{}

// Elsewhere implements core.Elsewhere.
func (Actor) Elsewhere() {}

// kindName is how a type is known to others.
func kindName(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// appendKind appends a type's name.
func appendKind(dst []byte, t reflect.Type) []byte {
	return append(append(append(dst, t.PkgPath()...), '.'), t.Name()...)
}

// kindOf returns the type of that name.
func (c *catalogue) kindOf(name string) reflect.Type {
	if t := c.kinds[name]; t != nil {
		return t
	}
	return reflect.TypeFor[Actor]()
}

// newCatalogue compiles the codecs of all contracts. The error names each type that can't cross.
func newCatalogue() (*catalogue, error) {
	c := &catalogue{byName: map[string]*method{}, kinds: map[string]reflect.Type{}}
	core.Contracts(func(of *core.Contract) {
		c.all = append(c.all, &method{Contract: of})
		of.Types(func(t reflect.Type) { c.kinds[kindName(t)] = t })
	})
	slices.SortFunc(c.all, func(a, b *method) int { return strings.Compare(a.Name, b.Name) })
	var all []error
	for i, m := range c.all {
		m.number = uint64(i + 1)
		c.byName[m.Name] = m
		all = append(all, m.compile())
	}
	addressed.Range(func(name, t any) bool {
		c.kinds[name.(string)] = t.(reflect.Type)
		return true
	})
	c.keyed = c.byName[keyedName]
	return c, errors.Join(all...)
}

func (m *method) compile() (err error) {
	d := frame.Method{Number: m.number, Name: []byte(m.Name)}
	if m.request, err = wire.Of(m.Request); err == nil {
		d.Request = m.request.AppendSchema(nil)
		if m.Reply != nil {
			if m.reply, err = wire.Of(m.Reply); err == nil {
				d.Reply = m.reply.AppendSchema(nil)
			}
		}
	}
	switch {
	case err != nil:
	case len(d.Name) > frame.NameMax || max(len(d.Request), len(d.Reply)) > frame.SchemaMax:
		err = errors.New("its name, or the description of its types, is too long")
	default:
		m.declare = d.Append(nil)
		return nil
	}
	return fmt.Errorf("cluster: method %s: %w", m.Name, err)
}

// foreign is a method as a peer writes it.
type foreign struct {
	*method               // nil: there is none of the name here
	request *wire.Decoder // nil: such requests can't be read here, because of noRequest
	reply   *wire.Decoder // the same, noReply

	noRequest, noReply error

	kind reflect.Type   // of the last actor that was called by it
	by   *stack.Handler // which handles it there; nil: nothing does
}

// unknown is each method that this process doesn't have, or has otherwise.
var unknown = foreign{noRequest: core.ErrNoHandler}

// UnknownNotice is in place of a notice, as a dead letter, whose method this process doesn't have.
type UnknownNotice struct{}

const unknownName = "stackhouse.cluster.unknown"

var _ = core.NewNoticeMethod[UnknownNotice](unknownName)

// translate makes what reads a peer's requests and replies.
func (c *catalogue) translate(d *frame.Method) *foreign {
	m := c.byName[string(d.Name)]
	if m == nil || (m.reply == nil) != (len(d.Reply) == 0) {
		return &unknown
	}
	f := &foreign{method: m}
	f.request, f.noRequest = m.request.Translate(d.Request)
	if m.reply != nil {
		f.reply, f.noReply = m.reply.Translate(d.Reply)
	}
	return f
}
