package main

import (
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

func TestG22SplitAtEveryByte(t *testing.T) {
	codec := func() housetest.Decoder[take] { return lines{time.Second} }
	housetest.RequireSplits(t, codec, []byte("TAKE a 1\nTAKE b 22\nwhat\n\nTAKE c"))
}
