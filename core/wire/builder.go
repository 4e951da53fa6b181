package wire

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/pool"
)

// Coded is implemented, on the pointer, by types that are coded by hand. The two must agree: what
// AppendWire appends ReadWire reads, all of it.
type Coded interface {
	// AppendWire appends the value and returns the extended slice.
	AppendWire(dst []byte) []byte
	// ReadWire reads into a zero value, and mostly ends with return r.Err(). It may get any bytes:
	// it must not panic, makes nothing before Count has allowed it, and bounds its depth if a value
	// may be within another of its type. After an error the value is what it is.
	ReadWire(r *Reader) error
}

var (
	appendsType  = reflect.TypeFor[interface{ AppendWire([]byte) []byte }]()
	readsType    = reflect.TypeFor[interface{ ReadWire(*Reader) error }]()
	releasesType = reflect.TypeFor[interface{ Release() }]()
	timeType     = reflect.TypeFor[time.Time]()
	bytesType    = reflect.TypeFor[pool.Bytes]()
)

// numbers are the kinds of Go's kinds that have one width; int and uint have 64 bits.
var numbers = map[reflect.Kind]kind{
	reflect.Bool: kindBool, reflect.Int8: kindInt8, reflect.Int16: kindInt16, reflect.Int32: kindInt32, reflect.Int64: kindInt64,
	reflect.Int: kindInt64, reflect.Uint8: kindUint8, reflect.Uint16: kindUint16, reflect.Uint32: kindUint32,
	reflect.Uint64: kindUint64, reflect.Uint: kindUint64, reflect.Float32: kindFloat32, reflect.Float64: kindFloat64,
	reflect.Complex64: kindComplex64, reflect.Complex128: kindComplex128, reflect.String: kindString,
}

// builder makes the shape of a type of one's own.
type builder struct {
	above []reflect.Type // that the one under way is within
	nodes int
}

// refuse is the error for what can't cross, with the path of the field.
func refuse(path string, why any) error { return fmt.Errorf("wire: %s: %v", path, why) }

// shape makes the shape of t, which stands at path.
func (b *builder) shape(t reflect.Type, path string) (*shape, error) {
	b.nodes++
	switch {
	case slices.Contains(b.above, t):
		return nil, refuse(path, fmt.Sprintf("%v is within itself", t))
	case len(b.above) >= depthMax:
		return nil, refuse(path, errDepth)
	case b.nodes > nodesMax:
		return nil, refuse(path, errNodes)
	}
	b.above = append(b.above, t)
	s := &shape{typ: t}
	err := b.fill(s, path)
	b.above = b.above[:len(b.above)-1]
	if err == nil {
		if err = s.measure(); err != nil {
			err = refuse(path, err)
		}
	}
	return s, err
}

// fill looks at s.typ.
func (b *builder) fill(s *shape, path string) (err error) {
	t := s.typ
	if done, err := s.byHand(path); done || err != nil {
		return err
	}
	if f := foreignOf(t); f != nil {
		s.kind, s.name = kindCoded, f.Name()
		s.coder = &coder{foreign: f, none: reflect.Zero(t).Interface(), typ: t}
		return nil
	}
	if refers := referenceOf(t, path); refers != nil {
		s.kind, s.name = kindCoded, refers.name
		s.coder = &coder{refers: refers}
		return nil
	}
	if s.kind = numbers[t.Kind()]; s.kind != 0 {
		return nil
	}
	switch k := t.Kind(); {
	case t == timeType:
		s.kind = kindTime
	case t == bytesType:
		s.kind = kindBytes
	case t.PkgPath() == "sync" || t.PkgPath() == "sync/atomic":
		return refuse(path, fmt.Sprintf("no %v can be sent: it is for one process", t))
	case k == reflect.Array:
		s.kind, s.size = kindArray, t.Len()
		s.elem, err = b.shape(t.Elem(), path+"[]")
	case k == reflect.Slice:
		s.kind = kindSlice
		if s.elem, err = b.shape(t.Elem(), path+"[]"); err == nil && s.elem.kind == kindUint8 {
			s.kind, s.elem = kindBytes, nil
		}
	case k == reflect.Map:
		s.kind = kindMap
		if s.key, err = b.shape(t.Key(), path+"[key]"); err == nil {
			if why := unfit(t.Key()); why != "" {
				return refuse(path+"[key]", why)
			}
			s.elem, err = b.shape(t.Elem(), path+"[]")
		}
	case k == reflect.Struct:
		s.kind = kindStruct
		if err = b.fields(s, path); err != nil {
			err = fmt.Errorf("%w%s", err, advice(t))
		}
	default:
		return refuse(path, fmt.Sprintf("no %v can be sent (%v)%s", k, t, advice(t)))
	}
	return err
}

// advice says how messages of protocol buffers cross, if t is one or a pointer to one: told by a
// method's name, as this package doesn't know of them.
func advice(t reflect.Type) string {
	if t.Kind() != reflect.Pointer {
		t = reflect.PointerTo(t)
	}
	if _, is := t.MethodByName("ProtoReflect"); !is {
		return ""
	}
	return ": messages of protocol buffers cross as pointers, where cluster/proto is imported"
}

// unfit returns why there are no keys of type t, which is comparable; empty: there are.
func unfit(t reflect.Type) string {
	switch {
	case t == bytesType:
		return "pool.Bytes are no keys: equal bytes are different ones"
	case foreignOf(t) != nil:
		return "pointers are no keys: equal messages are different ones"
	case t.Kind() == reflect.Array:
		return unfit(t.Elem())
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			if why := unfit(f.Type); why != "" {
				return why
			}
		}
	}
	return ""
}

func (b *builder) fields(s *shape, path string) error {
	for f := range s.typ.Fields() {
		name, at := f.Tag.Get("wire"), path+"."+f.Name
		switch {
		case name == "-":
			continue
		case !f.IsExported():
			return refuse(at, "it isn't exported: export it, or give it the tag `wire:\"-\"`")
		case name == "":
			name = f.Name
		}
		if s.field([]byte(name)) >= 0 {
			return refuse(at, fmt.Sprintf("two fields have the name %q", name))
		}
		of, err := b.shape(f.Type, at)
		if err != nil {
			return err
		}
		s.fields = append(s.fields, field{name: name, at: f.Offset, shape: of})
	}
	return nil
}

// byHand reports whether s is of a type that is coded by hand.
func (s *shape) byHand(path string) (bool, error) {
	t := s.typ
	pointer := reflect.PointerTo(t)
	appends, reads := pointer.Implements(appendsType), pointer.Implements(readsType)
	switch {
	case t.Kind() == reflect.Interface || !appends && !reads:
		return false, nil
	case !reads:
		return false, refuse(path, fmt.Sprintf("%v has AppendWire and no ReadWire", t))
	case !appends:
		return false, refuse(path, fmt.Sprintf("%v has ReadWire and no AppendWire", t))
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			if f.Anonymous && (may(f.Type, appendsType) || may(f.Type, readsType)) {
				return false, refuse(path+"."+f.Name, "embedded, it would code the whole: give the field a name")
			}
		}
	}
	s.kind, s.name = kindCoded, t.PkgPath()+"."+t.Name()
	s.coder = &coder{hand: reflect.Zero(pointer).Interface().(Coded)}
	return true, nil
}

// may reports whether a t, or a pointer to it, is an i.
func may(t, i reflect.Type) bool { return t.Implements(i) || reflect.PointerTo(t).Implements(i) }
