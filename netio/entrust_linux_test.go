//go:build !portable

package netio

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// trusting is a poller that may be entrusted to another, and a socket of its own with its peer.
type trusting struct {
	*fixture
	by   *Poller
	told recorder // by, of p
	own  recorder // p, of the socket
	fd   int
	peer int
}

func newTrusting(t *testing.T) *trusting {
	f := &trusting{fixture: newFixture(t, batchMax)}
	by, err := Open()
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := by.Close(); err != ErrClosed {
			require.NoError(t, err)
		}
	})
	f.by = by
	require.NoError(t, f.p.MayEntrust(by, &f.told))
	f.fd, f.peer = f.pair()
	f.add(f.fd, &f.own)
	f.poll() // it is writable
	return f
}

func (f *trusting) write() {
	_, err := unix.Write(f.peer, []byte{1})
	require.NoError(f, err)
}

// tells returns how often by is told of p.
func (f *trusting) tells() int {
	n, err := f.by.Poll()
	require.NoError(f, err)
	return n
}

func (f *trusting) waitForWake(d time.Duration) bool {
	woken, err := f.p.WaitForWake(int64(d))
	require.NoError(f, err)
	return woken
}

func TestEntrust(t *testing.T) {
	f := newTrusting(t)
	require.Zero(t, f.by.Len())
	f.waitForWake(0) // what was rung while it wasn't asked

	f.write()
	require.Zero(t, f.tells(), "before it was entrusted")
	require.NoError(t, f.p.Entrust())
	require.Equal(t, 1, f.tells(), "of what there was already")
	require.True(t, f.p.Ready())
	require.Equal(t, 1, f.poll())
	require.False(t, f.p.Ready())
	require.Zero(t, f.tells())

	f.write()
	require.False(t, f.waitForWake(time.Millisecond), "an event ended it")
	require.Equal(t, 1, f.tells())
	f.write()
	require.Equal(t, 1, f.tells(), "each event is told")

	f.p.Wake()
	require.True(t, f.waitForWake(-1))
	require.False(t, f.waitForWake(0))
	require.Zero(t, f.tells(), "a Wake was told")
	require.Equal(t, 1, f.poll())

	require.NoError(t, f.p.TakeBack())
	f.wait(0) // the bell that came back
	f.write()
	require.Zero(t, f.tells(), "it was taken back")
	require.Equal(t, 1, f.wait(-1))
	f.p.Wake()
	require.NoError(t, f.p.Wait(-1))
}

// Who watches may go first.
func TestEntrustedToWhoCloses(t *testing.T) {
	f := newTrusting(t)
	require.NoError(t, f.p.Entrust())
	require.NoError(t, f.by.Close())
	f.write()
	require.Equal(t, 1, f.poll())
	require.NoError(t, f.p.TakeBack())
	f.p.Wake()
	require.NoError(t, f.p.Wait(-1))
}

func TestEntrustedCloses(t *testing.T) {
	f := newTrusting(t)
	require.NoError(t, f.p.Entrust())
	f.write()
	require.NoError(t, f.p.Close())
	require.LessOrEqual(t, f.tells(), 1)
	require.Zero(t, f.tells())
}

// A Wake is heard by the next wait of either kind, whatever happens in between, and events by who
// has the poller.
func TestEntrustRandomly(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	f := newTrusting(t)
	entrusted, bytes, woken := false, false, false
	for range fewer(20_000) {
		switch r.IntN(6) {
		case 0:
			f.write()
			bytes = true
			if entrusted {
				require.Equal(t, 1, f.tells())
			}
		case 1:
			f.p.Wake()
			woken = true
		case 2:
			if !entrusted {
				require.NoError(t, f.p.Entrust())
				if n := f.tells(); bytes {
					require.Equal(t, 1, n)
				}
				entrusted = true
			}
		case 3:
			if entrusted {
				require.NoError(t, f.p.TakeBack())
				entrusted = false
			}
		case 4:
			if entrusted {
				require.Equal(t, bytes, f.p.Ready())
			}
			if n := f.poll(); bytes {
				require.Equal(t, 1, n)
			} else {
				require.Zero(t, n)
			}
			bytes = false
			if !entrusted {
				woken = false // it may have been taken
			}
		case 5:
			if entrusted {
				if woken {
					require.True(t, f.waitForWake(0))
				}
				f.waitForWake(0)
				require.False(t, f.waitForWake(0))
			} else if woken || bytes {
				if n := f.wait(int64Max); bytes {
					require.Equal(t, 1, n)
				}
				bytes = false
			}
			woken = false
		}
		if r.IntN(20) == 0 {
			for drained := true; drained; {
				_, err := unix.Read(f.fd, make([]byte, 4096))
				drained = err == nil
			}
		}
	}
}

const int64Max = time.Duration(1<<63 - 1)

func TestEntrustMallocs(t *testing.T) {
	f := newTrusting(t)
	require.Zero(t, mallocs(func() {
		for range 1000 {
			f.p.Entrust()
			f.p.Wake()
			f.p.WaitForWake(-1)
			f.p.Ready()
			f.p.TakeBack()
		}
	}))
}
