package wire_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/core/wire"
)

// Item is a message of plain fields.
type Item struct {
	ID     uint32
	Name   string
	Prices map[string]float64
	cached bool `wire:"-"`
}

// A codec is compiled once, and then makes bytes of values, and values of bytes.
func Example() {
	items, err := wire.For[Item]()
	if err != nil {
		panic(err)
	}
	bytes := wire.Append(items, nil, &Item{ID: 7, Name: "lamp", Prices: map[string]float64{"EUR": 20}, cached: true})

	var r wire.Reader
	var got Item
	r.Reset(bytes)
	err = wire.Read(items, &r, &got)
	fmt.Printf("%d bytes: %+v %v %v\n", len(bytes), got, err, r.End())

	_, err = wire.For[struct{ Done chan Item }]()
	fmt.Println(err)
	// Output:
	// 22 bytes: {ID:7 Name:lamp Prices:map[EUR:20] cached:false} <nil> <nil>
	// wire: struct { Done chan wire_test.Item }.Done: no chan can be sent (chan wire_test.Item)
}

// Line is coded by hand.
type Line struct {
	from, to Dot
	label    string
}

// Dot is a part of a Line.
type Dot struct{ x, y int64 }

// AppendWire implements wire.Coded.
func (l *Line) AppendWire(dst []byte) []byte {
	dst = wire.AppendVarint(wire.AppendVarint(dst, l.from.x), l.from.y)
	dst = wire.AppendVarint(wire.AppendVarint(dst, l.to.x), l.to.y)
	return wire.AppendString(dst, l.label)
}

// ReadWire implements wire.Coded. The first error stays, so it is looked at once.
func (l *Line) ReadWire(r *wire.Reader) error {
	l.from = Dot{r.Varint(), r.Varint()}
	l.to = Dot{r.Varint(), r.Varint()}
	l.label = r.String()
	return r.Err()
}

func ExampleCoded() {
	lines, err := wire.For[[]Line]()
	if err != nil {
		panic(err)
	}
	bytes := wire.Append(lines, nil, &[]Line{{Dot{1, 2}, Dot{-3, 4}, "edge"}})
	var r wire.Reader
	var got []Line
	r.Reset(bytes)
	err = wire.Read(lines, &r, &got)
	fmt.Printf("%d bytes: %v %v\n", len(bytes), got, err)
	r.Reset(bytes[:6])
	fmt.Println(wire.Read(lines, &r, new([]Line)))
	// Output:
	// 11 bytes: [{{1 2} {-3 4} edge}] <nil>
	// wire: truncated
}

// A peer of another version is read by a decoder that is made from its schema.
func ExampleCodec_Translate() {
	type old struct {
		ID    uint32
		Color string
	}
	theirs, _ := wire.For[old]()
	ours, _ := wire.For[Item]()
	decoder, err := ours.Translate(theirs.AppendSchema(nil))
	if err != nil {
		panic(err)
	}
	var r wire.Reader
	var got Item
	r.Reset(wire.Append(theirs, nil, &old{ID: 7, Color: "red"}))
	err = wire.Read(decoder, &r, &got)
	fmt.Printf("%+v %v %v\n", got, err, r.End())
	// Output: {ID:7 Name: Prices:map[] cached:false} <nil> <nil>
}
