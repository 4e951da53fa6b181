package core

import (
	"reflect"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Reference is a pointer to what refers to an actor, as links see it: to an Address, an AnyAddress,
// a Port or a NoticePort. Only links use it.
type Reference interface {
	// Kind returns the type that the actor must be of; nil: any will do.
	Kind() reflect.Type
	// Port reports whether it is a port.
	Port() bool
	// Referent returns the house of the actor, nil if there is none, and of a port the name of its
	// method. It reports false for a port that isn't of one actor, or of no method.
	Referent() (to *stack.House, method string, ok bool)
	// Refer has it refer to an actor, of a port by a method. It reports false, and changes nothing,
	// if the actor or the method is of other types.
	Refer(to AnyAddress, by *Contract) bool
}

// referring is implemented by pointers to what may be seen as a Reference.
type referring interface{ reference() Reference }

// ReferenceTo returns a nil pointer to values of type t, as a Reference; nil: they refer to no
// actor. Only links call it.
func ReferenceTo(t reflect.Type) Reference {
	if t == reflect.TypeFor[AnyAddress]() {
		return (*anyReference)(nil)
	}
	if t.PkgPath() != here { // a struct that embeds one isn't one
		return nil
	}
	if r, ok := reflect.Zero(reflect.PointerTo(t)).Interface().(referring); ok {
		return r.reference()
	}
	return nil
}

// here is this package.
var here = reflect.TypeFor[anyReference]().PkgPath()

type anyReference AnyAddress

func (r *anyReference) Kind() reflect.Type { return nil }
func (r *anyReference) Port() bool         { return false }

func (r *anyReference) Referent() (*stack.House, string, bool) {
	to, _ := (*AnyAddress)(r).Any()
	return to, "", true
}

func (r *anyReference) Refer(to AnyAddress, _ *Contract) bool {
	*r = anyReference(to)
	return true
}

type reference[A any] Address[A]

func (a *Address[A]) reference() Reference { return (*reference[A])(a) }

func (r *reference[A]) Kind() reflect.Type                     { return reflect.TypeFor[A]() }
func (r *reference[A]) Port() bool                             { return false }
func (r *reference[A]) Referent() (*stack.House, string, bool) { return r.house, "", true }

func (r *reference[A]) Refer(to AnyAddress, _ *Contract) bool {
	a, ok := As[A](to)
	if ok {
		*r = reference[A](a)
	}
	return ok
}

type portReference[Req, Rep any] Port[Req, Rep]

func (p *Port[Req, Rep]) reference() Reference { return (*portReference[Req, Rep])(p) }

func (r *portReference[Req, Rep]) Kind() reflect.Type { return nil }
func (r *portReference[Req, Rep]) Port() bool         { return true }

func (r *portReference[Req, Rep]) Referent() (*stack.House, string, bool) {
	return referent(r.to, r.route)
}

func (r *portReference[Req, Rep]) Refer(to AnyAddress, by *Contract) bool {
	if by.Request != reflect.TypeFor[Req]() || by.Reply != reflect.TypeFor[Rep]() {
		return false
	}
	*r = portReference[Req, Rep](Method[Req, Rep]{by}.At(to))
	return true
}

// referent returns what a port refers to that is made of these.
func referent(to *stack.House, by *route) (*stack.House, string, bool) {
	if to == nil {
		return nil, "", by == nil || !by.leads() && !by.timer
	}
	return to, by.by.Contract, by.by.Contract != ""
}

type noticePortReference[Msg any] NoticePort[Msg]

func (p *NoticePort[Msg]) reference() Reference { return (*noticePortReference[Msg])(p) }

func (r *noticePortReference[Msg]) Kind() reflect.Type { return nil }
func (r *noticePortReference[Msg]) Port() bool         { return true }

func (r *noticePortReference[Msg]) Referent() (*stack.House, string, bool) {
	if r.to == nil {
		return referent(nil, r.route)
	}
	return r.to, r.by.Contract, r.by.Contract != ""
}

func (r *noticePortReference[Msg]) Refer(to AnyAddress, by *Contract) bool {
	if by.Request != reflect.TypeFor[Msg]() || by.Reply != nil {
		return false
	}
	*r = noticePortReference[Msg](NoticeMethod[Msg]{by}.At(to))
	return true
}
