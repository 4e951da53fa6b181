package frame

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// body is any of the structs of frames, but for Hello.
type body interface {
	Append(dst []byte) []byte
	Read(r Raw) error
}

// makers makes an empty struct of each kind.
var makers = map[Kind]func() body{
	KindTell: func() body { return &Tell{} }, KindTells: func() body { return &Tells{} }, KindAsk: func() body { return &Ask{} },
	KindReply: func() body { return &Reply{} }, KindFail: func() body { return &Fail{} }, KindCancel: func() body { return &Cancel{} },
	KindRef: func() body { return &Ref{} }, KindWatch: func() body { return &Watch{} }, KindUnwatch: func() body { return &Unwatch{} },
	KindGone: func() body { return &Gone{} }, KindCommand: func() body { return &Command{} }, KindGap: func() body { return &Gap{} },
	KindHold:   func() body { return &Hold{} },
	KindResume: func() body { return &Resume{} }, KindAck: func() body { return &Ack{} }, KindPing: func() body { return &Ping{} },
	KindPart: func() body { return &Part{} }, KindBye: func() body { return &Bye{} }, KindPacked: func() body { return &Packed{} },
	KindMethod: func() body { return &Method{} },
}

// samples is frames of each kind, with short and with high values.
func samples() []body {
	envelope := AppendMessage(AppendMessage(AppendMessage(nil, []byte("a")), nil), []byte("bc"))
	text := []byte("shop.item")
	return []body{
		&Tell{To: 1, Method: 2, Message: []byte("abc")}, &Tell{To: math.MaxUint64, Method: 128},
		&Tells{To: 1, Method: 2, Messages: envelope},
		&Ask{Slot: 1, To: 2, Method: 3, Remaining: 30e9, Context: []byte("0123456789abcdef"), Message: []byte("get")},
		&Ask{Remaining: math.MaxInt64},
		&Reply{Slot: 1, Message: []byte("item")}, &Reply{Slot: 300},
		&Fail{Slot: 1, Code: 7, Text: []byte("no room")}, &Fail{Slot: 1, Name: text, Text: []byte("none left")}, &Fail{},
		&Cancel{Slot: 1},
		&Ref{Number: 1, Serial: 2}, &Ref{Number: 127, Serial: 16384},
		&Watch{To: 1}, &Unwatch{To: 1}, &Gone{To: 1}, &Command{To: 1, Code: 3},
		&Gap{Notices: 300},
		&Hold{To: 1}, &Resume{To: 1},
		&Ack{Position: 1 << 20}, &Ping{}, &Ping{Asks: true},
		&Part{Number: 1, Total: FrameMax + 1, At: FrameMax, Piece: []byte("z")}, &Part{Total: LongMax, Piece: []byte("a")},
		&Packed{Total: FrameMax + 1, Text: []byte("ab")},
		&Bye{Code: 1, Text: []byte("shutting down")},
		&Method{Number: 1, Name: text, Request: []byte{1, 8}, Reply: []byte{1, 15}}, &Method{Number: 300, Name: text, Request: []byte{1, 1}},
	}
}

var hello = Hello{Name: []byte("north"), Incarnation: 1 << 40, Session: 2, Track: 1, Tracks: 4, Position: 70000, Version: 2}

// hellos are of this version, and of the one before.
var hellos = []Hello{hello, {Name: []byte("north"), Incarnation: 1 << 40, Session: 2, Track: 1, Tracks: 4, Position: 70000, Version: Oldest}}

// read reads all frames of a stream.
func read(stream []byte) (all []string, err error) {
	for len(stream) > 0 {
		r, n, err := Next(stream)
		if n == 0 || err != nil {
			return all, err
		}
		b := makers[r.Kind]()
		if err := b.Read(r); err != nil {
			return all, err
		}
		if again := b.Append(nil); !bytes.Equal(again, stream[:n]) || r.Len != n {
			return all, fmt.Errorf("%x is appended as %x", stream[:n], again)
		}
		all = append(all, describe(r.Kind, b))
		stream = stream[n:]
	}
	return all, nil
}

// describe writes a frame as golden files have it.
func describe(k Kind, of any) string {
	v := reflect.Indirect(reflect.ValueOf(of))
	words := []string{k.String()}
	for i := range v.NumField() {
		form := "%s=%v"
		if v.Field(i).Kind() == reflect.Slice {
			form = "%s=%q"
		}
		words = append(words, fmt.Sprintf(form, v.Type().Field(i).Name, v.Field(i).Interface()))
	}
	return strings.Join(words, " ")
}

// TestEachKindHasASample, so that what goes through the samples goes through all kinds.
func TestEachKindHasASample(t *testing.T) {
	seen := map[Kind]bool{KindHello: true}
	for _, b := range samples() {
		seen[Kind(b.Append(nil)[3])] = true
	}
	for k := Kind(1); k.Known(); k++ {
		if !seen[k] || k.String() == "" {
			t.Errorf("%d, %s, has no sample", k, k)
		}
	}
}
