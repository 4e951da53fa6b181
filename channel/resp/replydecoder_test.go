package resp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// tiny are limits that the inputs of these tests meet.
var tiny = Limits{MaxBulk: 30, MaxArgs: 3, MaxInline: 22, MaxRequest: 60, MaxDepth: 2}

// answers is what some input meant: the texts of its replies, and how it ended.
type answers struct {
	texts []string
	err   error
	rest  int // bytes left over
}

func (a answers) String() string { return fmt.Sprintf("%q, %v, %d left", a.texts, a.err, a.rest) }

// atOnce decodes whole replies by DecodeReply.
func atOnce(in []byte, l Limits) (a answers) {
	for len(in) > 0 {
		var v Value
		n, err := DecodeReply(in, &v, l)
		if n == 0 {
			a.err = err
			break
		}
		a.texts = append(a.texts, text(v))
		in = in[n:]
	}
	a.rest = len(in)
	return a
}

// endsTooLate reports whether the reply at the end of in, of which rest bytes have come, has none
// within its limit if only what is missing of a string comes.
func endsTooLate(in []byte, rest int, l Limits) bool {
	var v Value
	filled := append(bytes.Clone(in[len(in)-rest:]), bytes.Repeat([]byte("x"), l.resolved().MaxRequest-rest)...)
	n, err := DecodeReply(filled, &v, l)
	return n == 0 && err == ErrReplyLimit
}

// inPieces decodes by a ReplyDecoder an input that comes in pieces, each in other memory.
func inPieces(in []byte, l Limits, piece func() int) (a answers, err error) {
	d := NewReplyDecoder(l)
	came := 0
	for at := 0; ; {
		var v Value
		window := bytes.Clone(in[at:came])
		need := d.Need()
		n, err := d.Decode(window, &v)
		switch {
		case n > 0 && len(window) < need:
			return a, fmt.Errorf("a reply of %d bytes with %d, but at least %d were needed", n, len(window), need)
		case err == nil && n == 0 && d.Need() <= len(window):
			return a, fmt.Errorf("%d bytes don't do, but Need is %d", len(window), d.Need())
		case d.Need() > l.resolved().MaxRequest:
			return a, fmt.Errorf("Need is %d", d.Need())
		case n > 0:
			a.texts = append(a.texts, text(v))
			at += n
			continue
		case err != nil || came == len(in):
			a.err, a.rest = err, len(in)-at
			return a, nil
		}
		came = min(len(in), came+piece())
	}
}

// compare fails if pieces make a difference.
func compare(t *testing.T, in []byte, l Limits, rng *rand.Rand) {
	t.Helper()
	want := atOnce(in, l)
	for what, piece := range map[string]func() int{
		"whole":   func() int { return len(in) },
		"by byte": func() int { return 1 },
		"pieces":  func() int { return 1 + rng.IntN(1+rng.IntN(20)) },
	} {
		got, err := inPieces(in, l, piece)
		if got.err == ErrReplyLimit && want.err == nil && endsTooLate(in, got.rest, l) {
			got.err = nil // it is refused earlier
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s, %q: %v, %v; want %v", what, in, got, err, want)
		}
	}
}

// TestRepliesInPieces: replies by a recipe, and spoiled ones, decode as DecodeReply does it.
func TestRepliesInPieces(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	for range 3_000 {
		recipe := make([]byte, rng.IntN(60))
		for i := range recipe {
			recipe[i] = byte(rng.Uint32())
		}
		var in []byte
		for range 1 + rng.IntN(3) {
			in, _, _ = cook(in, recipe, 0)
			if rng.IntN(4) == 0 {
				in = append(in, "|1\r\n+ttl\r\n:9\r\n"...)
			}
		}
		switch rng.IntN(4) {
		case 0:
			in[rng.IntN(len(in))] = "\r\n+-:$*_#,(=!%~|>0123456789x"[rng.IntN(28)]
		case 1:
			in = in[:rng.IntN(len(in)+1)]
		}
		if len(in) > longest {
			continue
		}
		compare(t, in, Limits{}, rng)
		compare(t, in, tiny, rng)
	}
}

// TestLimitsBeforeNeed: what is too long is refused when it is announced.
func TestLimitsBeforeNeed(t *testing.T) {
	for _, in := range []string{
		"$31\r\n", "=31\r\n", "!31\r\n", "*4\r\n", "%2\r\n", "~4\r\n", "*1\r\n|2\r\n", "$9223372036854775807\r\n",
		"*1\r\n*1\r\n*1\r\n", "*3\r\n$30\r\n" + strings.Repeat("x", 30) + "\r\n$20\r\n",
	} {
		d := NewReplyDecoder(tiny)
		var v Value
		if n, err := d.Decode([]byte(in), &v); n != 0 || err != ErrReplyLimit || d.Need() != 1 {
			t.Errorf("%q: %d, %v, Need is %d", in, n, err, d.Need())
		}
	}
	d := NewReplyDecoder(tiny)
	var v Value
	if n, err := d.Decode([]byte("*2\r\n$30\r\nx"), &v); n != 0 || err != nil || d.Need() != 4+5+30+2 {
		t.Errorf("%d, %v, Need is %d", n, err, d.Need())
	}
}

// TestLongRepliesInSmallPiecesCostLittle counts the bytes that are looked at: elements are read
// once each, and an incomplete string isn't looked at.
func TestLongRepliesInSmallPiecesCostLittle(t *testing.T) {
	const elems = 200_000
	in := AppendArray(nil, elems)
	for range elems {
		in = AppendArray(in, 1)
		in = AppendBulkString(in, "0123456789")
	}
	in = append(in, "+"+strings.Repeat("x", 60_000)+"\r\n"...)
	var d ReplyDecoder
	var v Value
	looked, at := 0, 0
	for came := 1; came <= len(in); came++ {
		before := d.off + d.seen
		n, err := d.Decode(in[at:came], &v)
		if err != nil {
			t.Fatal(err)
		}
		if after := d.off + d.seen; n == 0 && after > before {
			looked += after - before
		} else {
			looked += n - min(n, before)
		}
		at += n
	}
	if at != len(in) || looked > 2*len(in) {
		t.Errorf("%d of %d bytes decoded, %d looked at", at, len(in), looked)
	}
}

// FuzzReplyDecoder reads the input as replies, in pieces.
func FuzzReplyDecoder(f *testing.F) {
	for _, in := range []string{
		"+OK\r\n:1\r\n", "*3\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n+x\r\n-E\r\n", "|1\r\n+ttl\r\n:9\r\n*1\r\n|0\r\n:1\r\n",
		"%2\r\n+a\r\n_\r\n+b\r\n~1\r\n:1\r\n>1\r\n+x\r\n", "=7\r\ntxt:abc\r\n!5\r\nERR x\r\n", "*1\r\n>0\r\n", "$31\r\n",
		"*1\r\n*1\r\n*0\r\n*0\r\n|0\r\n*0\r\n", "$3\r\nabcde", "+\r", "*2\r\n$30\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n$20\r\n",
	} {
		f.Add([]byte(in), uint64(1), true)
		f.Add([]byte(in), uint64(2), false)
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64, tight bool) {
		if len(in) > longest {
			return
		}
		var l Limits
		if tight {
			l = tiny
		}
		compare(t, in, l, rand.New(rand.NewPCG(seed, 0)))
	})
}
