package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scanned returns all that SCAN and its options give, in order.
func (c *client) scanned(words ...string) (all []string) {
	c.t.Helper()
	cursor := "0"
	for calls := 0; ; calls++ {
		at := slices.Index(words, "CURSOR")
		reply := strings.Fields(c.do(slices.Replace(slices.Clone(words), at, at+1, cursor)...))
		cursor = reply[2]
		for i := 5; i < len(reply); i += 2 {
			all = append(all, reply[i])
		}
		if cursor == "0" {
			slices.Sort(all)
			return all
		}
		require.Less(c.t, calls, 10_000)
	}
}

func TestScan(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		c := openWorld(t, workers, options{}).dial()
		require.Empty(t, c.scanned("SCAN", "CURSOR"))
		var names, hashes []string
		for i := range 500 {
			name := fmt.Sprintf("key%03d", i)
			names = append(names, name)
			if i%10 == 0 {
				hashes = append(hashes, name)
				c.do("HSET", name, "f", "v")
			} else {
				c.do("SET", name, "v")
			}
			c.do("HSET", "big", name, "v")
		}
		c.do("HSET", "big", "more", strings.Repeat("v", 65))
		all := append([]string{"big"}, names...)
		require.Equal(t, all, c.scanned("SCAN", "CURSOR"))
		require.Equal(t, all, c.scanned("SCAN", "CURSOR", "COUNT", "1"))
		require.Equal(t, all, c.scanned("SCAN", "CURSOR", "COUNT", "100000"))
		require.Equal(t, names[100:200], c.scanned("SCAN", "CURSOR", "MATCH", "key1*"))
		require.Equal(t, append([]string{"big"}, hashes...), c.scanned("SCAN", "CURSOR", "TYPE", "hash"))
		require.Equal(t, hashes[10:20], c.scanned("SCAN", "CURSOR", "TYPE", "hash", "MATCH", "key1??", "COUNT", "7"))
		fields := c.scanned("HSCAN", "big", "CURSOR", "MATCH", "key3*", "COUNT", "20")
		require.Equal(t, names[300:400], fields[:100])
		require.Len(t, fields, 200) // the values come behind
		keys := strings.Fields(c.do("KEYS", "key2*"))
		require.Equal(t, "*100", keys[0])
		require.Len(t, keys, 201)
		seen := map[string]bool{}
		for range 200 {
			seen[c.do("RANDOMKEY")] = true
			require.Contains(t, c.do("HRANDFIELD", "big"), "e")
		}
		require.Greater(t, len(seen), 100)
		require.Len(t, strings.Fields(c.do("HRANDFIELD", "big", "30")), 61)
		require.Len(t, strings.Fields(c.do("HRANDFIELD", "big", "-700")), 1401)
		require.Equal(t, "*501", strings.Fields(c.do("HRANDFIELD", "big", "700"))[0])
	})
}

// TestParseCursor: what C's strtoul takes, up to the first zero byte.
func TestParseCursor(t *testing.T) {
	for text, want := range map[string]uint64{
		"": 0, "0": 0, "12": 12, "+7": 7, "-1": 1<<64 - 1, "18446744073709551615": 1<<64 - 1,
		"1\x00": 1, "\x00": 0, "3\x00x": 3,
	} {
		if n, ok := parseCursor([]byte(text)); !ok || n != want {
			t.Errorf("%q: %d, %v", text, n, ok)
		}
	}
	for _, text := range []string{"x", "1x", " 1", "+", "-", "++1", "+\x001", "18446744073709551616"} {
		if n, ok := parseCursor([]byte(text)); ok {
			t.Errorf("%q: %d", text, n)
		}
	}
}
