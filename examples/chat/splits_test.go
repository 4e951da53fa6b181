package main

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/channel/frame"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

func TestG22SplitAtEveryByte(t *testing.T) {
	codec := func() housetest.Decoder[request] { return &session{Line: frame.Line{Max: 1000}} }
	housetest.RequireSplits(t, codec, []byte("join a\r\nsay hello\n\nleave a"))
}
