package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"strconv"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// Bucket is the actor of one key.
type Bucket struct {
	burst int64         // tokens of a full one
	every time.Duration // so often one comes
	full  time.Duration // when it will be full, on the clock of core.Now: all that there is to know
}

type take struct {
	key []byte // lives as long as the connection's request: who asks may read it, the bucket may not
	n   int64
}

func (t *take) name() []byte { return t.key }

var bucketTake = core.Handle((*Bucket).take)

func (b *Bucket) take(s *core.AskStack[take, time.Duration]) core.Yield {
	return s.Return(b.takeAt(time.Duration(core.Now(s)), s.Req.n))
}

// takeAt takes n tokens if they are there. It returns what is left, as the time in which as much
// comes; if that is negative nothing was taken, and n tokens will be there when it has passed.
func (b *Bucket) takeAt(now time.Duration, n int64) (left time.Duration) {
	full := max(b.full, now) + time.Duration(n)*b.every
	if left = now + b.fill() - full; left >= 0 {
		b.full = full
	}
	return left
}

func (b *Bucket) fill() time.Duration { return time.Duration(b.burst) * b.every }

// newBuckets has a bucket for each key that is asked for. One that was idle for as long as it takes
// to be full is as good as a new one: nothing is lost when it goes.
func newBuckets(sys core.Directory, like Bucket, most int) core.Named[Bucket] {
	return core.NewNamed(sys, core.NamedConfig[Bucket]{
		Kind:  "bucket",
		New:   func(string) *Bucket { b := like; return &b },
		Max:   most,
		Props: core.Props{Passivate: core.Passivation{Idle: like.fill()}},
	})
}

// lines is the codec.
type lines struct{ every time.Duration }

func (lines) Decode(in []byte, t *take) (n int, err error) {
	const lineMax = 300 // bytes, with the newline: room for the longest name and number
	if n = bytes.IndexByte(in[:min(len(in), lineMax)], '\n') + 1; n == 0 && len(in) >= lineMax {
		return 0, fmt.Errorf("a line has more than %d bytes", lineMax)
	}
	if words, ok := bytes.CutPrefix(in[:n], []byte("TAKE ")); ok {
		key, number, _ := bytes.Cut(words[:len(words)-1], []byte(" "))
		t.key = key
		t.n, _ = strconv.ParseInt(string(number), 10, 64) // what is no number gives one that is refused
	}
	return n, nil // with n 0 it isn't whole, and read again with what comes
}

func (l lines) Encode(out []byte, left *time.Duration, err error) []byte {
	switch {
	case err != nil:
		return fmt.Appendf(out, "ERR %.120v\n", err)
	case *left < 0:
		ms := (time.Millisecond - 1 - *left) / time.Millisecond // rounded up
		return append(strconv.AppendInt(append(out, "WAIT "...), int64(ms), 10), '\n')
	}
	return append(strconv.AppendInt(append(out, "OK "...), int64(*left/l.every), 10), '\n')
}

func (lines) Need() int                             { return 1 }
func (lines) Size(*time.Duration, error) int        { return 512 } // 120 runes, and more
func (l lines) Refuse(out []byte, err error) []byte { return l.Encode(out, nil, err) }

type front struct { // where clients come in
	buckets core.Port[take, time.Duration]
	burst   int64
}

type lineStack struct {
	core.ChannelStack[take, time.Duration]
	left core.Future[time.Duration]
}

var frontLine = channel.Handle((*front).line)

func (f *front) line(s *lineStack) core.Yield {
	if len(s.Req.key) == 0 || s.Req.n < 1 || s.Req.n > f.burst {
		return s.Throw(fmt.Errorf("a line is TAKE <key> <n>, with n from 1 to %d", f.burst))
	}
	f.buckets.Ask(s, &s.left, s.Req)
	return core.Suspend(s, (*front).taken)
}

func (f *front) taken(s *lineStack) core.Yield {
	left, err := s.left.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(left)
}

func serve(ctx context.Context, address string, like Bucket, most int) (*house.System, string) {
	sys := must(house.New(house.Config{}))
	must(sys, sys.Start(ctx))
	buckets := core.ByName(bucketTake, newBuckets(sys, like, most), (*take).name)
	fronts := core.Replicate(sys, func() *front { return &front{buckets, like.burst} })
	codec := func() channel.Codec[take, time.Duration] { return lines{like.every} }
	c := channel.Config[take, time.Duration]{Network: "tcp", Address: address, Codec: codec}
	return sys, must(channel.Listen(ctx, c, frontLine, fronts.All()...)).Addr()
}

func main() {
	address, most := flag.String("addr", "127.0.0.1:7080", "where to listen"), flag.Int("max", 1_000_000, "buckets at once")
	burst, every := flag.Int64("burst", 20, "tokens of a full bucket"), flag.Duration("every", time.Second/10, "one more comes")
	flag.Parse()
	if *every <= 0 || *burst < 1 || *burst > int64(365*24*time.Hour / *every) {
		log.Fatal("a bucket has at least one token, and is full in a year at most")
	}
	_, at := serve(context.Background(), *address, Bucket{burst: *burst, every: *every}, *most)
	log.Println("limiter listens at", at)
	select {} // until it is killed
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
