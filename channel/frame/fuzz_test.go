package frame

import (
	"math/rand/v2"
	"testing"
)

// longest keeps the fuzzers, which try every split, quick.
const longest = 200

// FuzzStream reads the input as a stream of each framing, cut everywhere, and compares with the
// model.
func FuzzStream(f *testing.F) {
	for _, in := range []string{
		"", "a\r\nbc\n\r\n", "abcdef\n", "ab\x00\x00c", "aabaabaa", "abcababcab", "\x00\x00\x00\x02ab\x00\x00\x00\x00",
		"T\x02\x00abT\x00\x00", "\x09\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x09a", "\x02ab\x80\x01", "\x80\x80\x00",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > longest {
			return
		}
		stream := string(in)
		r := rand.New(rand.NewPCG(uint64(len(in)), 3))
		for _, k := range kinds() {
			k.check(t, "fuzz", stream, everyWay(stream, r)...)
		}
	})
}

// FuzzPayload sends the input by each framing that takes it, twice: it must come out so.
func FuzzPayload(f *testing.F) {
	for _, in := range []string{"", "a", "ab", "a\r", "a\n", "aaba", "T\x00\x00ab", "\x00\xff"} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) > longest {
			return
		}
		for _, k := range kinds() {
			f := k.new()
			if f.Check(payload) != nil {
				continue
			}
			one := string(f.Append(nil, payload))
			want := decoded{frames: []string{string(payload), string(payload)}}
			if k.keeps {
				want.frames = []string{one, one}
			}
			stream := string(f.Append([]byte(one), payload))
			if got := k.decode(stream); !got.equal(want) || len(one) > f.Size(payload) {
				t.Fatalf("%s: %q is sent as %q, which is %q", k.name, payload, one, got.frames)
			}
			k.check(t, "fuzz", stream, atOnce, byteByByte, byNeed)
		}
	})
}
