package proto

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// flat reads messages of a type whose fields are scalars, strings and bytes that can't be absent,
// straight into the struct that protoc-gen-go has made of it: most small messages. What it finds
// odd it leaves to other code, which knows what to make of it.
type flat struct {
	fields   []flatField // by number, to the highest; is may be reflect.Invalid: there is none
	hasBytes bool
	unknown  uintptr // where the struct has bytes of unknown fields
}

type flatField struct {
	kind protoreflect.Kind
	is   reflect.Kind // what protoc-gen-go has made of it
	wire protowire.Type
	at   uintptr // in the struct
}

// flatMax is the highest number that a field may have.
const flatMax = 63

// goKinds are what protoc-gen-go makes of fields.
var goKinds = map[protoreflect.Kind]reflect.Kind{
	protoreflect.BoolKind: reflect.Bool, protoreflect.EnumKind: reflect.Int32,
	protoreflect.Int32Kind: reflect.Int32, protoreflect.Sint32Kind: reflect.Int32, protoreflect.Sfixed32Kind: reflect.Int32,
	protoreflect.Int64Kind: reflect.Int64, protoreflect.Sint64Kind: reflect.Int64, protoreflect.Sfixed64Kind: reflect.Int64,
	protoreflect.Uint32Kind: reflect.Uint32, protoreflect.Fixed32Kind: reflect.Uint32,
	protoreflect.Uint64Kind: reflect.Uint64, protoreflect.Fixed64Kind: reflect.Uint64,
	protoreflect.FloatKind: reflect.Float32, protoreflect.DoubleKind: reflect.Float64,
	protoreflect.StringKind: reflect.String, protoreflect.BytesKind: reflect.Slice,
}

// flatOf returns how messages of a type are read, a struct; nil: they aren't flat.
func flatOf(t reflect.Type, of protoreflect.MessageDescriptor) *flat {
	if t.Kind() != reflect.Struct {
		return nil
	}
	f := &flat{}
	by := map[protoreflect.FieldNumber]reflect.StructField{}
	for i := range t.NumField() {
		field := t.Field(i)
		switch tag := strings.Split(field.Tag.Get("protobuf"), ","); {
		case len(tag) > 1: // as "varint,1,opt,name=seconds,proto3"
			n, err := strconv.Atoi(tag[1])
			if err != nil || n > flatMax {
				return nil
			}
			by[protoreflect.FieldNumber(n)] = field
		case field.Name == "unknownFields" && field.Type.ConvertibleTo(reflect.TypeFor[[]byte]()):
			f.unknown = field.Offset
		case field.Name != "state" && field.Name != "sizeCache": // fields that may be absent, extensions
			return nil
		}
	}
	if f.unknown == 0 {
		return nil
	}
	for i := range of.Fields().Len() {
		d := of.Fields().Get(i)
		field, ok := by[d.Number()]
		if !ok || d.HasPresence() || field.Type.Kind() != goKinds[d.Kind()] || field.Type.Kind() == reflect.Slice && field.Type != reflect.TypeFor[[]byte]() {
			return nil
		}
		for len(f.fields) <= int(d.Number()) {
			f.fields = append(f.fields, flatField{})
		}
		f.hasBytes = f.hasBytes || d.Kind() == protoreflect.BytesKind
		f.fields[d.Number()] = flatField{d.Kind(), field.Type.Kind(), wireOf(d.Kind()), field.Offset}
	}
	return f
}

// wireOf returns how values of a kind are written.
func wireOf(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind:
		return protowire.BytesType
	}
	return protowire.VarintType
}

// read reads into the message at a place, which is empty. Bytes go to room, which is empty, and has
// as much capacity as text is long, if there may be any. It reports false if the text is odd: the
// message isn't empty any more then.
func (f *flat) read(text, room []byte, message unsafe.Pointer) bool {
	for len(text) > 0 {
		number, wire, n := protowire.ConsumeTag(text)
		if n < 0 || int(number) >= len(f.fields) {
			return false
		}
		text = text[n:]
		field := &f.fields[number]
		if field.is == reflect.Invalid || field.wire != wire {
			return false
		}
		at := unsafe.Add(message, field.at)
		switch wire {
		case protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(text); n >= 0 {
				field.set(at, v)
			}
		case protowire.Fixed32Type:
			var v uint32
			if v, n = protowire.ConsumeFixed32(text); n >= 0 {
				*(*uint32)(at) = v
			}
		case protowire.Fixed64Type:
			var v uint64
			if v, n = protowire.ConsumeFixed64(text); n >= 0 {
				*(*uint64)(at) = v
			}
		case protowire.BytesType:
			var v []byte
			if v, n = protowire.ConsumeBytes(text); n < 0 {
				return false
			}
			if field.is == reflect.Slice {
				from := len(room)
				room = append(room, v...)
				*(*[]byte)(at) = room[from:len(room):len(room)]
			} else if !utf8.Valid(v) {
				return false
			} else {
				*(*string)(at) = string(v)
			}
		}
		if n < 0 {
			return false
		}
		text = text[n:]
	}
	return true
}

// set sets the field at a place to what the varint v stands for.
func (f *flatField) set(at unsafe.Pointer, v uint64) {
	switch f.kind {
	case protoreflect.Sint32Kind:
		v = uint64(protowire.DecodeZigZag(v & math.MaxUint32))
	case protoreflect.Sint64Kind:
		v = uint64(protowire.DecodeZigZag(v))
	}
	switch f.is {
	case reflect.Bool:
		*(*bool)(at) = v != 0
	case reflect.Int32, reflect.Uint32:
		*(*uint32)(at) = uint32(v)
	default:
		*(*uint64)(at) = v
	}
}

// reset empties the message at a place, whoever has read it.
func (f *flat) reset(message unsafe.Pointer) {
	*(*[]byte)(unsafe.Add(message, f.unknown)) = nil
	for i := range f.fields {
		field := &f.fields[i]
		at := unsafe.Add(message, field.at)
		switch field.is {
		case reflect.Invalid: // no field has this number
		case reflect.Slice:
			*(*[]byte)(at) = nil
		case reflect.String:
			*(*string)(at) = ""
		case reflect.Bool:
			*(*bool)(at) = false
		case reflect.Int32, reflect.Uint32, reflect.Float32:
			*(*uint32)(at) = 0
		default:
			*(*uint64)(at) = 0
		}
	}
}
