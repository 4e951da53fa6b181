package message

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"
)

// TestSameBytes: the code of vtprotobuf writes what package proto writes, and reads it.
func TestSameBytes(t *testing.T) {
	in := &Blob{Value: []byte("some bytes")}
	text, err := proto.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := in.MarshalVT(); err != nil || !bytes.Equal(text, other) {
		t.Errorf("%x and %x, %v", text, other, err)
	}
	var out Blob
	if err := out.UnmarshalVT(text); err != nil || !proto.Equal(in, &out) {
		t.Errorf("%v, %v", &out, err)
	}
}
