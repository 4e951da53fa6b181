package frame

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// pieces says how many bytes of a stream have come when the framing is called next: have came
// before, and the frame under way needs as many as would make it need.
type pieces func(have, need int) int

func atOnce(int, int) int        { return 1 << 30 }
func byteByByte(have, _ int) int { return have + 1 }
func byNeed(_, need int) int     { return need }

func byChance(r *rand.Rand) pieces {
	return func(have, _ int) int { return have + 1 + r.IntN(9) }
}

func inTwo(cut int) pieces {
	return func(have, _ int) int {
		if have < cut {
			return cut
		}
		return 1 << 30
	}
}

// read decodes a stream as a connection does, and holds each answer against what a framing
// promises. The bytes stand elsewhere at each call.
func (k *kind) read(stream string, next pieces) (all decoded, problem string) {
	f := k.new()
	from, have, need := 0, 0, 1
	for {
		in := []byte(stream[from:have])
		untouched := []byte{1}
		frame := untouched
		n, err := f.Decode(in, &frame)
		wrong := func(what string) string {
			return fmt.Sprintf("%s: %s: %q, Decode(%q): %d, %v; need %d", k.name, what, all.frames, in, n, err, f.Need())
		}
		switch {
		case n < 0 || n > len(in):
			return all, wrong("other bytes than there are")
		case err != nil && n != 0:
			return all, wrong("a frame and an error")
		case n == 0 && &frame[0] != &untouched[0]:
			return all, wrong("a frame without bytes")
		case n > 0 && !aliases(frame, in):
			return all, wrong("bytes from elsewhere")
		case n > 0 && len(in) < need:
			return all, wrong(fmt.Sprintf("a frame before %d bytes came", need))
		case err != nil:
			all.rest, all.err = len(stream)-from, err
			return all, ""
		case n > 0:
			all.frames = append(all.frames, string(frame))
			from, need = from+n, 1
			continue
		}
		if need = f.Need(); need <= len(in) || need != k.model(string(in)).need {
			return all, wrong(fmt.Sprintf("should need %d", k.model(string(in)).need))
		}
		if have == len(stream) {
			all.rest = len(in)
			return all, ""
		}
		have = min(len(stream), max(have+1, next(have, from+need)))
	}
}

// check compares a stream, however it comes, with the model.
func (k *kind) check(t *testing.T, about, stream string, ways ...pieces) {
	t.Helper()
	want := k.decode(stream)
	for i, way := range ways {
		if got, problem := k.read(stream, way); problem != "" || !got.equal(want) {
			t.Fatalf("%s, %s, %q, way %d: %s\n got %v\nwant %v", k.name, about, stream, i, problem, got, want)
		}
	}
}

// everyWay is all ways in which a stream is cut in two, and some others.
func everyWay(stream string, r *rand.Rand) []pieces {
	ways := []pieces{atOnce, byteByByte, byNeed, byChance(r), byChance(r)}
	for cut := range len(stream) {
		ways = append(ways, inTwo(cut))
	}
	return ways
}

const seeds = 100

// TestFramesInPieces: frames come out as they went in, wherever the stream is cut.
func TestFramesInPieces(t *testing.T) {
	for _, k := range kinds() {
		if k.name == "Length that no frame has" {
			continue
		}
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(seed, 1))
			about := fmt.Sprintf("seed %d", seed)
			stream, frames := k.frames(r)
			if got := k.decode(stream); !got.equal(decoded{frames: frames}) {
				t.Fatalf("%s, %s: %q is %v, want %q", k.name, about, stream, got, frames)
			}
			k.check(t, about, stream, everyWay(stream, r)...)
		}
	}
}

// frames makes a stream of ten frames.
func (k *kind) frames(r *rand.Rand) (stream string, frames []string) {
	f, out := k.new(), []byte("before")
	start := len(out)
	for len(frames) < 10 {
		payload := k.random(r, r.IntN(13))
		if f.Check(payload) != nil {
			continue
		}
		have := len(out)
		if out = f.Append(out, payload); len(out)-have > f.Size(payload) {
			panic("Size is too small")
		}
		if k.keeps {
			payload = out[have:]
		}
		frames = append(frames, string(payload))
	}
	return string(out[start:]), frames
}

func (k *kind) random(r *rand.Rand, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		if b[i] = k.bytes[r.IntN(len(k.bytes))]; r.IntN(10) == 0 {
			b[i] = byte(r.IntN(256))
		}
	}
	return b
}

// TestGarbage: any bytes are decoded, or refused, as the model does.
func TestGarbage(t *testing.T) {
	for _, k := range kinds() {
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(seed, 2))
			stream := string(k.random(r, r.IntN(40)))
			k.check(t, fmt.Sprintf("seed %d", seed), stream, everyWay(stream, r)...)
		}
	}
}

// TestAllShortStreams tries all streams of a few different bytes.
func TestAllShortStreams(t *testing.T) {
	for _, k := range kinds() {
		few := short(k.bytes, 3)
		for size := range 9 {
			each(few, size, func(stream string) { k.check(t, "short", stream, atOnce, byteByByte, byNeed) })
		}
	}
}

// short is the first most different bytes of a text.
func short(text string, most int) (few string) {
	for _, c := range []byte(text) {
		if bytes.IndexByte([]byte(few), c) < 0 && len(few) < most {
			few += string([]byte{c})
		}
	}
	return few
}

// each calls f with all texts of size bytes, each one of few.
func each(few string, size int, f func(string)) {
	if size == 0 {
		f("")
		return
	}
	for i := range len(few) {
		each(few, size-1, func(rest string) { f(few[i:i+1] + rest) })
	}
}

// TestSeenBytesAreNotLookedAtAgain: so a frame costs its length, in however many pieces it comes.
// What was looked at is overwritten with ends of frames: who looks again finds one. Framings that
// aren't here look at no byte behind the length.
func TestSeenBytesAreNotLookedAtAgain(t *testing.T) {
	for _, test := range []struct {
		f    Framing
		end  string
		byte string
	}{
		{&Line{}, "\n", "\r"},
		{&Delimiter{}, "\x00", "x"},
		{&Delimiter{Mark: []byte("abac")}, "abac", "a"},
		{&Delimiter{Mark: []byte("\r\n.\r\n")}, "\r\n.\r\n", "\n"},
	} {
		for range 2 { // the second frame is found by the same framing
			var in, frame []byte
			n := 0
			for len(in) < 1000 {
				in = append(in, test.byte...)
				if n, err := test.f.Decode(in, &frame); n != 0 || err != nil {
					t.Fatalf("%T: looks again: %d, %v, of %d bytes", test.f, n, err, len(in))
				}
				for i := range len(in) - len(test.end) + 1 {
					in[i] = test.end[i%len(test.end)]
				}
			}
			in = append(in, "xxxxx"...)
			in = append(in, test.end...)
			if n, _ = test.f.Decode(in, &frame); n != len(in) {
				t.Fatalf("%T: %d of %d bytes", test.f, n, len(in))
			}
		}
	}
}

// TestCheck: a payload is refused if, and only if, the model makes something else of its frame.
func TestCheck(t *testing.T) {
	for _, k := range kinds() {
		f := k.new()
		end := ""
		switch f := f.(type) {
		case *Line:
			if end = "\n"; f.CRLF {
				end = "\r\n"
			}
		case *Delimiter:
			end = string(f.mark())
		default:
			continue
		}
		for size := range 9 {
			each(short(k.bytes, 3), size, func(payload string) {
				a := k.model(payload + end)
				if whole := a.frame == payload && a.n == len(payload+end); whole != (f.Check([]byte(payload)) == nil) {
					t.Fatalf("%s: %q, %v; decoded as %q", k.name, payload, f.Check([]byte(payload)), a.frame)
				}
			})
		}
	}
}
