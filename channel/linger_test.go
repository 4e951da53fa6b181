package channel_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/netio"
)

// flood goes on sending, so many bytes or, 0, until the connection ends.
func (c *client) flood(bytes int) {
	text := []byte(strings.Repeat("more\n", 1000))
	for sent := 0; bytes == 0 || sent < bytes; sent += len(text) {
		if _, err := c.Write(text); err != nil {
			return
		}
	}
}

// lingerRounds is how many connections end in each of the ways below; where that takes long there
// are fewer.
func lingerRounds() int {
	if invariant.Race || !netio.CanShare {
		return 100
	}
	return 1000
}

// What a server has answered arrives, and behind it the end, though its client goes on sending.
func TestResultsArriveThoughTheClientGoesOnSending(t *testing.T) {
	const long = 200_000
	for _, way := range []struct{ name, last, result string }{
		{"ReturnLast", "last z", "z"},
		{"refusal", "!", "refused: " + errMark.Error()},
	} {
		for _, network := range []string{"tcp", "unix"} {
			t.Run(way.name+" "+network, func(t *testing.T) {
				w := openWorld(t, place{network: network, workers: 2}, func(c *config) { c.OutputMax = 2 * long })
				want := big(long) + "\nb\n" + way.result + "\n"
				var group sync.WaitGroup
				for sender := range 4 {
					group.Go(func() {
						for i := range lingerRounds() / 4 {
							c := w.dial()
							sent := begin(func() error {
								c.send(fmt.Sprint("big ", long), "after 0 b", way.last)
								c.flood([]int{0, 10_000, 600_000, 3_000_000}[(i+sender)%4])
								if i/4%2 == 0 {
									// with bytes unread before its end
									c.Conn.(interface{ CloseWrite() error }).CloseWrite()
								}
								return nil
							})
							got, err := io.ReadAll(c.r)
							if string(got) != want {
								t.Errorf("%d bytes, want %d; %v", len(got), len(want), err)
							} else if err != nil && !(network == "unix" && isBroken(err)) {
								// A Unix socket tells so of what it hasn't read, behind all else.
								t.Error(err)
							}
							c.Close()
							<-sent
						}
					})
				}
				group.Wait()
			})
		}
	}
}

// The same of a drain: what had been answered arrives.
func TestDrainArrivesThoughTheClientsGoOnSending(t *testing.T) {
	const conns = 20
	for round := range lingerRounds() / conns {
		network := []string{"tcp", "unix"}[round%2]
		t.Run(fmt.Sprint(network, round), func(t *testing.T) { drainsWhileClientsSend(t, network, conns) })
	}
}

func drainsWhileClientsSend(t *testing.T, network string, conns int) {
	w := openWorld(t, place{network: network, workers: 2}, nil)
	// long, as each connection is answered a MiB of them
	line := func(i int) string { return fmt.Sprintf("%08000d\n", i) }
	var all []*client
	for range conns {
		c := w.dial()
		c.send("a")
		c.expect("a")
		all = append(all, c)
	}
	var group sync.WaitGroup
	var answered atomic.Int64
	for _, c := range all {
		group.Go(func() {
			for i := 1; ; i++ {
				if _, err := io.WriteString(c, line(i)); err != nil {
					return
				}
			}
		})
		group.Go(func() {
			defer c.Close()
			for i := 1; ; i++ {
				switch got, err := c.r.ReadString('\n'); {
				case err == nil && got == line(i):
					answered.Add(1)
				case got == "" && (err == io.EOF || network == "unix" && isBroken(err)):
					return
				default:
					t.Errorf("%.20q, %v; want %d or the end", got, err, i)
					return
				}
			}
		})
	}
	w.await("some load", func() bool { return answered.Load() > int64(5*conns) })
	require.NoError(t, w.server.Drain(w.ctx))
	group.Wait()
}

// A connection whose client never ends its side, and neither reads nor sends, is closed when its
// time has passed, and counts until then.
func TestConnectionsThatPartCount(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.ConnsMax = 1 }, virtual)
		c := w.dial()
		c.send("last a")
		c.expect("a")
		_, err := c.r.ReadByte()
		require.Equal(t, io.EOF, err)
		w.pass(0) // behind the step that ended the sending side
		w.pass(1900 * time.Millisecond)
		require.EqualValues(t, 1, w.server.Stats().Conns)
		second := w.dial()
		second.expect("refused: channel: too many connections")
		second.expectEnd()
		w.pass(200 * time.Millisecond)
		w.await("the connection gone", func() bool { return w.server.Stats().Conns == 0 })
		again := w.dial()
		again.send("b")
		again.expect("b")
	})
}

// One that parts doesn't keep a server from closing: its client has all.
func TestCloseWhileConnectionsPart(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil, virtual) // time doesn't end it
		c := w.dial()
		c.send("last a")
		c.expect("a")
		_, err := c.r.ReadByte()
		require.Equal(t, io.EOF, err)
		require.EqualValues(t, 1, w.server.Stats().Conns)
		require.NoError(t, w.server.Close(w.ctx))
		require.Zero(t, w.server.Stats().Conns)
	})
}

// What came while the worker was busy is dropped in shares of a turn, without another event.
func TestPartsThoughMuchHasArrived(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		if p.workers > 1 {
			t.Skip("the other worker may serve it")
		}
		w := openWorld(t, p, nil, virtual) // time doesn't end it
		c, other := w.dial(), w.dial()
		c.send("b")
		c.expect("b")
		other.send("block")
		w.await("the block", func() bool { return w.blocked.Load() == 1 })
		c.send("last a")
		c.flood(150_000) // as a Unix socket takes at most
		c.halfClose()
		w.gate <- struct{}{}
		other.expect("block")
		c.expect("a")
		w.await("the connection gone", func() bool { return w.server.Stats().Conns == 1 })
	})
}
