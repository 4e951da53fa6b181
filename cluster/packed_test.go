package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
)

// wrote returns how many bytes of frames a node has written to the other one.
func wrote(t *testing.T, n *Node, to string) (written uint64) {
	n.look(t, func(h *hub) { written = h.links[to].tracks[0].out.Left().End })
	return written
}

// TestCompressedMessages: long ones cross as they are, both ways, in far fewer bytes if they can.
func TestCompressedMessages(t *testing.T) {
	noise := make([]byte, 300_000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	plain := padded(0, 300_000).Pad
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", Compress: true})
	_, err := core.SpawnWith(there.sys, func() *counter { return &counter{} }, core.Props{Name: "counter"})
	require.NoError(t, err)
	here := newPlace(t, Config{Name: "here", Peers: map[string]string{"there": there.node.Addr()}, Compress: true})
	far, err := here.node.Lookup(t.Context(), "there", "/user/counter")
	require.NoError(t, err)
	for name, test := range map[string]struct {
		message     []byte
		least, most int // bytes of its frames
	}{
		"short":    {plain[:60_000], 60_000, 60_100},
		"one":      {plain, 300_000 / frame.PackedFactor, 300_000/frame.PackedFactor + 100},
		"in parts": {make([]byte, 16_000_000), 16_000_000 / frame.PackedFactor, 16_000_000/frame.PackedFactor + 1000},
		"some":     {slices.Concat(noise, plain), 300_000, 330_000},
		"hardly":   {slices.Concat(plain[:20_000], noise), 320_000, 320_200},
		"noise":    {noise, 300_000, 300_200},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // what is used again has nothing of the one before
				out, back := wrote(t, here.node, "there"), wrote(t, there.node, "here")
				require.NoError(t, core.AskInto(t.Context(), echo.At(far), test.message, func(got *[]byte) {
					require.True(t, string(test.message) == string(*got))
				}))
				for _, n := range []uint64{wrote(t, here.node, "there") - out, wrote(t, there.node, "here") - back} {
					require.GreaterOrEqual(t, int(n), test.least)
					require.LessOrEqual(t, int(n), test.most)
				}
				requireSmall(t, here.node)
				requireSmall(t, there.node)
			}
		})
	}
}

// TestCompressedMessagesThatWait for room behind others stay as they are.
func TestCompressedMessagesThatWait(t *testing.T) {
	p := newPair(t, core.Props{}, session.Timing{})
	p.here.node.look(t, func(h *hub) { h.node.config.Compress = true })
	// it acknowledges nothing for some time
	busy := core.Begin(hubLook.At(p.there.node.hub), func(*hub) { time.Sleep(300 * time.Millisecond) })
	var asks []core.Pending[[]byte]
	for n := range 60 {
		asks = append(asks, core.Begin(echo.At(p.far), padded(n, 300_000).Pad))
	}
	time.Sleep(100 * time.Millisecond) // half the window is full, and one waits
	find := core.Begin(p.here.node.Finder(), Where{"there", "/user/counter"})
	for n := range asks {
		require.NoError(t, asks[n].GetInto(func(got *[]byte) {
			require.True(t, string(padded(n, 300_000).Pad) == string(*got), n)
		}))
	}
	_, err := find.Get()
	require.NoError(t, err)
	_, err = busy.Get()
	require.NoError(t, err)
}

// requireSmall requires that a node keeps no memory for long frames.
func requireSmall(t *testing.T, n *Node) {
	n.look(t, func(h *hub) {
		require.LessOrEqual(t, cap(h.scratch.packed), textKept)
		require.LessOrEqual(t, cap(h.scratch.unpacked), textKept)
	})
}

// TestCompressedNoticesAreLost once, whether they have left in one piece or in
// parts, or some of these.
func TestCompressedNoticesAreLost(t *testing.T) {
	c := newCalm(t)
	c.here.config.Compress = true
	far := c.find(c.here, "there")
	e := &itemEar{}
	core.Events[core.OpenedLetter](c.sim).Subscribe(itemEarOpens.At(core.Spawn(c.sim, func() *itemEar { return e })))
	l := c.here.self.links["there"]
	own := l.tracks[0].wrote
	for n, size := range []int{1_200_000, 70_000, 100, 9_000_000} {
		require.NoError(t, core.Notice(tells.At(far), padded(n, size)))
		for l.tracks[0].wrote < own+uint64(n+1) {
			c.sim.Turn()
		}
		for n != 3 && len(l.tracks[0].parcels.out) > 0 {
			c.sim.Turn()
		}
	}
	require.Len(t, l.tracks[0].parcels.out, 1)
	l.giveUp(ErrUnreachable)
	l.begin()
	c.sim.Run(time.Second)
	require.ElementsMatch(t, []int{0, 1, 2, 3}, e.heard)
}

// itemEar hears of items that are dead letters.
type itemEar struct{ heard []int }

func (e *itemEar) opens(s *core.NoticeStack[core.OpenedLetter]) core.Yield {
	if m, ok := s.Msg.Message.(item); ok {
		e.heard = append(e.heard, m.N)
	}
	return s.Return()
}

var itemEarOpens = core.HandleNotice((*itemEar).opens)

// packed returns a PACKED that says that it unfolds to total bytes.
func packed(total int, text []byte) []byte {
	return (&frame.Packed{Total: uint64(total), Text: text}).Append(nil)
}

// packedOf returns the PACKED of a frame.
func packedOf(f []byte) []byte { return packed(len(f), s2.Encode(nil, f)) }

// TestPackedForWhoReadsIt: a long frame isn't packed before the other end has said its version, nor
// if that is the first.
func TestPackedForWhoReadsIt(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	c.here.config.Compress = true
	k, long := c.track(), make([]byte, 200_000)
	for speaks := range uint64(3) {
		k.speaks = speaks
		require.Equal(t, speaks == 2, len(k.pack(long)) < len(long), "version %d", speaks)
	}
}

// TestPackedThatCannotBe: a packed frame that isn't as long as it says, that is of many notices, is
// packed once more, or is none, is refused before anything of it is done.
func TestPackedThatCannotBe(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	noise := make([]byte, 200_000)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	tell := (&frame.Tell{To: 1, Method: 1, Message: noise}).Append(nil)
	tells := (&frame.Tells{To: 1, Method: 1, Messages: frame.AppendMessage(frame.AppendMessage(nil, noise[:50_000]), noise[:50_000])}).Append(nil)
	for name, test := range map[string]struct {
		f    []byte
		want error
	}{
		"shorter":       {packed(len(tell)+1, s2.Encode(nil, tell)), errPacked},
		"longer":        {packed(len(tell)-1, s2.Encode(nil, tell)), errPacked},
		"no text":       {packed(100_000, []byte{0xff}), errPacked},
		"a broken text": {packed(100_000, append([]byte{0xa0, 0x8d, 0x06}, noise[:10_000]...)), errPacked},
		"many":          {packedOf(tells), errPacked},
		"twice":         {packedOf(packedOf(tell)), errPacked},
		"none":          {packedOf(make([]byte, 100_000)), frame.ErrTrailing},
	} {
		f, err := frame.Long(test.f)
		require.NoError(t, err, name)
		err = k.unpack(f, func(frame.Raw) error { t.Fatal(name); return nil })
		require.Error(t, err, name)
		if test.want == errPacked {
			require.Equal(t, errPacked, err, name)
		}
	}
	f, err := frame.Long(packedOf(tell))
	require.NoError(t, err)
	done := false
	require.NoError(t, k.unpack(f, func(f frame.Raw) error { done = f.Kind == frame.KindTell; return nil }))
	require.True(t, done)
}
