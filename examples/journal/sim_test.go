package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/pool"
)

// disk is a file that knows what was synced, and fails when it is told to.
type disk struct {
	text          string
	synced, syncs int // bytes, and times
	writes        int
	write, sync   error
}

func (d *disk) Write(p []byte) (int, error) {
	d.writes++
	if d.write != nil {
		d.text += string(p[:len(p)/2])
		return len(p) / 2, d.write
	}
	d.text += string(p)
	return len(p), nil
}

func (d *disk) Sync() error {
	if d.syncs++; d.sync == nil {
		d.synced = len(d.text)
	}
	return d.sync
}

// sim is a journal in a simulation.
type sim struct {
	*housetest.Sim
	disk
	port   core.Port[pool.Bytes, int64]
	guests pool.Guests // whose the bytes of lines are
}

func newSim(t *testing.T, seed uint64) *sim {
	s := &sim{}
	if c := (house.Config{Workers: 3}); seed%2 == 0 {
		s.Sim = housetest.New(t, seed, c)
	} else {
		s.Sim = housetest.Untraced(t, seed, c)
	}
	s.port = journalAppend.At(core.Spawn(s.Sim, func() *Journal { return &Journal{file: &s.disk} }))
	return s
}

func (s *sim) begin(line string) core.Pending[int64] {
	b := s.guests.Bytes(len(line))
	copy(b.B(), line)
	return core.Begin(s.port, b)
}

// sender has one line at a time on its way.
type sender struct {
	ask  core.Pending[int64]
	line string
	sent int
	last int64 // the offset of its last line
}

// TestGroupCommit: lines of clients that overlap share fsyncs, and nobody is answered before that
// of the own line.
func TestGroupCommit(t *testing.T) {
	const clients, each = 8, 20
	for seed := range uint64(100) {
		s, rng := newSim(t, seed), rand.New(rand.NewPCG(seed, 1))
		var all [clients]sender
		for answered := 0; answered < clients*each; {
			require.Less(t, s.Now, int64(time.Minute), "seed %d: %d are answered", seed, answered)
			for i := range all {
				c := &all[i]
				if c.line != "" && c.ask.Ready() {
					at, err := c.ask.Get()
					require.NoError(t, err, "seed %d", seed)
					require.LessOrEqual(t, int(at)+len(c.line), s.synced, "seed %d: %q was answered before its fsync", seed, c.line)
					require.Equal(t, c.line, s.text[at:int(at)+len(c.line)], "seed %d", seed)
					require.True(t, at > c.last || c.sent == 1, "seed %d: %q is at %d, the one before at %d", seed, c.line, at, c.last)
					c.line, c.last = "", at
					answered++
				}
				if c.line == "" && c.sent < each && rng.IntN(2) == 0 {
					c.line = fmt.Sprintf("client %d line %d\n", i, c.sent)
					c.ask = s.begin(c.line)
					c.sent++
				}
			}
			for range rng.IntN(4) {
				s.Turn()
			}
			s.Run(time.Duration(rng.IntN(2)) * time.Millisecond)
		}
		require.Equal(t, clients*each, strings.Count(s.text, "\n"), "seed %d", seed)
		require.Equal(t, s.writes, s.syncs, "seed %d", seed)
		require.Less(t, s.syncs, clients*each/2, "seed %d", seed)
		require.NoError(t, s.Shutdown(t.Context()))
		require.Zero(t, s.guests.Outstanding(), "seed %d", seed)
	}
}

// TestErrorIsForGood: an error of a write or an fsync is that of all its lines, and of all that
// come later, though the disk is well again, and nothing more is written.
func TestErrorIsForGood(t *testing.T) {
	errDisk := errors.New("the disk is on fire")
	for seed := range uint64(100) {
		s := newSim(t, seed)
		first := s.begin("first\n")
		s.Run(time.Second)
		at, err := first.Get()
		require.NoError(t, err)
		require.Zero(t, at)
		if seed%4 < 2 {
			s.write = errDisk
		} else {
			s.sync = errDisk
		}
		for range 2 {
			asks := make([]core.Pending[int64], 50)
			for i := range asks {
				asks[i] = s.begin(fmt.Sprintln("line", i))
				if i%10 == 0 {
					s.Turn()
				}
			}
			s.Run(time.Second)
			for i, ask := range asks {
				require.True(t, ask.Ready(), "seed %d", seed)
				_, err := ask.Get()
				require.ErrorIs(t, err, errDisk, "seed %d: line %d", seed, i)
			}
			s.write, s.sync = nil, nil
		}
		require.Equal(t, 2, s.writes, "seed %d: writes behind an error", seed)
		require.Equal(t, len("first\n"), s.synced, "seed %d", seed)
		require.NoError(t, s.Shutdown(t.Context()))
		require.Zero(t, s.guests.Outstanding(), "seed %d", seed)
	}
}
