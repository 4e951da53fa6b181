package tracing

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestParseTrace(t *testing.T) {
	for text, want := range map[string]string{
		parent:                      parent,
		"cc" + parent[2:]:           parent, // of a later version
		"cc" + parent[2:] + "-what": parent,
		parent + "-what":            "",
		"ff" + parent[2:]:           "",
		parent[:54]:                 "",
		strings.ToUpper(parent):     "",
		parent[:3] + strings.Repeat("0", 32) + parent[35:]:  "",
		parent[:36] + strings.Repeat("0", 16) + parent[52:]: "",
		strings.Replace(parent, "-", "_", 1):                "",
		"cc" + parent[2:] + "what":                          "",
		strings.Replace(parent, "af", "ag", 1):              "",
		"":                                                  "",
	} {
		got, err := ParseTrace(text)
		if want == "" {
			require.Equal(t, ErrTrace, err, text)
			require.True(t, got.IsZero())
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got.String())
	}
}

// TestContextIsAMap: a Context is what a trace and a map of pairs are, at any worker, and as text.
func TestContextIsAMap(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var shard pool.Shard
		var c Context
		var trace Trace
		pairs := map[string]string{}
		for range 60 {
			next, err := c.Share(), error(nil)
			next.Drop()
			name, value := fmt.Sprint("n", rng.IntN(8)), strings.Repeat("v", rng.IntN(200)*rng.IntN(2)+rng.IntN(2))
			switch rng.IntN(3) {
			case 0:
				trace = Trace{Span: [8]byte{byte(rng.IntN(256))}}
				next = c.WithTrace(&shard, trace)
			case 1:
				next, err = c.WithPair(&shard, name, value)
				sum := 0
				for n, v := range pairs {
					if n != name {
						sum += 3 + len(n) + len(v)
					}
				}
				if value != "" {
					sum += 3 + len(name) + len(value)
				}
				require.Equal(t, sum > PairsMax, err != nil, "seed %d", seed)
				if err != nil {
					continue
				}
				if pairs[name] = value; value == "" {
					delete(pairs, name)
				}
			default:
				next = Of(&shard, c.Text())
			}
			c.Drop()
			c = next
			require.NoError(t, c.Text().Check())
			require.Equal(t, trace, c.Text().Trace(), "seed %d", seed)
			for i := range 8 {
				name := fmt.Sprint("n", i)
				require.Equal(t, pairs[name], string(c.Text().Pair(name)), "seed %d", seed)
			}
		}
		c.Drop()
		for _, u := range shard.Usage() {
			require.Equal(t, u.Made, u.Free, "seed %d: all bytes are at home", seed)
		}
	}
}

func TestTextsThatAreNone(t *testing.T) {
	for _, text := range []string{"a", strings.Repeat("a", 24), strings.Repeat("\x00", 26), strings.Repeat("\x00", 28),
		strings.Repeat("a", 25) + "\x01\x00\x01a", strings.Repeat("a", 25) + "\x00\x00\x01a", strings.Repeat("\x01", TextMax+1)} {
		require.Equal(t, ErrText, Text(text).Check(), "%q", text)
	}
	pair := "\x01\x00\x01ab"
	require.NoError(t, Text(strings.Repeat("a", 25)+pair).Check())
	require.NoError(t, Text(strings.Repeat("a", 25)+pair+"\x01\x00\x01bb\x02\x00\x00aa").Check())
	require.Equal(t, ErrText, Text(strings.Repeat("a", 25)+pair+pair).Check(), "a name twice")
	require.Equal(t, ErrText, Text(strings.Repeat("a", 25)+"\x01\x00\x01bb"+pair+"\x01\x00\x00a").Check(), "a name twice")
}

// FuzzText: whatever is a Text can be read.
func FuzzText(f *testing.F) {
	f.Add([]byte(strings.Repeat("a", 25)+"\x01\x00\x01ab"), "a")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		if Text(text).Check() != nil {
			return
		}
		Text(text).Trace()
		Text(text).Pair(name)
		if n, err := Text(text).SizeWith(name, "v"); err == nil {
			with := Text(text).AppendPair(nil, name, "v")
			require.Len(t, with, n)
			require.NoError(t, Text(with).Check())
			require.Equal(t, "v", string(Text(with).Pair(name)))
		}
	})
}
