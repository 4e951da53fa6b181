package frame_test

import (
	"strings"
	"testing"

	"github.com/stackhouse-go/stackhouse/channel/frame"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestG22SplitAtEveryByte: each framing reads the same wherever its stream is cut.
func TestG22SplitAtEveryByte(t *testing.T) {
	payloads := []string{"12345678", "abcdefgh", "\x00\x01\x02\x03\x04\x05\x06\x07", "\x80\xff\x80\xff\x80\xff\x80\xff"}
	for name, create := range map[string]func() frame.Framing{
		"line":      func() frame.Framing { return &frame.Line{Max: 300} },
		"delimiter": func() frame.Framing { return &frame.Delimiter{Mark: []byte("--=--"), Max: 300} },
		"fixed":     func() frame.Framing { return &frame.Fixed{Bytes: 8} },
		"length":    func() frame.Framing { return &frame.Length{Width: 2, Max: 300} },
		"varint":    func() frame.Framing { return &frame.Varint{Max: 300} },
	} {
		t.Run(name, func(t *testing.T) {
			codec := func() housetest.Decoder[[]byte] { return &frame.Codec{Framing: create()} }
			var text []byte
			by := create()
			for _, p := range append(payloads, "", strings.Repeat("long", 64)) {
				if name == "fixed" && len(p) != 8 {
					continue
				}
				if by.Check([]byte(p)) == nil {
					text = by.Append(text, []byte(p))
				}
			}
			housetest.RequireSplits(t, codec, text)
			housetest.RequireSplits(t, codec, text[:len(text)-1])
			if name != "fixed" { // which has no frame that is too long
				housetest.RequireSplits(t, codec, append(text, strings.Repeat("\xff", 400)...))
			}
		})
	}
}
