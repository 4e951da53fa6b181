package main

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

func TestG22SplitAtEveryByte(t *testing.T) {
	codec := func() housetest.Decoder[[]byte] { return lines{} }
	housetest.RequireSplits(t, codec, []byte("one\n\ntwo words\r\nthree"))
}
