package frame

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/frames.txt anew")

const golden = "testdata/frames.txt"

// TestG25Golden: each sample has the bytes that earlier versions gave it. A line is the bytes, and
// the fields; zeros at the end of long bytes are left out.
func TestG25Golden(t *testing.T) {
	var lines []string
	for _, h := range hellos {
		lines = append(lines, fmt.Sprintf("%x %s", h.Append(nil), describe(KindHello, h)))
	}
	for _, b := range samples() {
		text := b.Append(nil)
		short := text[:min(len(text), max(64, len(bytes.TrimRight(text, "\x00"))))]
		lines = append(lines, fmt.Sprintf("%x %s", short, describe(Kind(text[3]), b)))
	}
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, lines, strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\r", "")), "\n"))
	for i, line := range lines {
		digits, want, _ := strings.Cut(line, " ")
		in, err := hex.DecodeString(digits)
		require.NoError(t, err)
		if i < len(hellos) {
			h, n, err := NextHello(in)
			require.NoError(t, err)
			require.Equal(t, len(in), n)
			require.Equal(t, want, describe(KindHello, h))
			continue
		}
		in = append(in, make([]byte, max(0, Len(in)-len(in)))...)
		all, err := read(in)
		require.NoError(t, err, line)
		require.Equal(t, []string{want}, all)
	}
}
