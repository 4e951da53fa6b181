//go:build !portable

package netio

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The portable poller allocates.
func TestNoMallocs(t *testing.T) {
	f := newFixture(t, batchMax)
	listener, _ := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	a, b := f.pair()
	h := new(counter)
	f.add(a, h)
	other := new(counter)
	message, buf := []byte("message"), make([]byte, 64)
	var v IOVecs
	n := fewer(100_000)
	got := mallocs(func() {
		for range n {
			Write(b, message)
			f.p.Poll()
			Read(a, buf)
			Read(a, buf) // ErrAgain
			v.Add(message)
			v.Add(message)
			sent, _ := Writev(b, &v)
			v.Advance(sent)
			f.p.Wait(-1)
			f.p.Deliver()
			Read(a, buf)
			f.p.Wake()
			f.p.Wait(-1)
			f.p.Deliver()
			tok, _ := f.p.Add(b, other)
			f.p.Remove(tok, b)
			f.p.Remove(tok, b) // ErrStale
			Accept(listener)
			SetNoDelay(listener)
			Read(-1, buf) // an Errno
		}
	})
	require.Zero(t, got, "%d rounds", n)
	require.GreaterOrEqual(t, h.n, 2*n, "events")
}

type counter struct{ n int }

func (h *counter) Ready(Ready) { h.n++ }
