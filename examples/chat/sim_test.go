package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// talker is a client of a simulation.
type talker struct {
	*housetest.Peer
	room, out, in string
	said          int
}

// TestTalkOverBadNetworks: all members of a room hear the same, in the same order, and what each of
// them has said in its order. When all have gone the rooms go.
func TestTalkOverBadNetworks(t *testing.T) {
	const talkers, each = 6, 20
	for seed := range uint64(100) {
		sim, rng := housetest.New(t, seed, house.Config{Workers: 3}), rand.New(rand.NewPCG(seed, 1))
		server := serve(t.Context(), sim.System, "127.0.0.1:7100", time.Hour, nil)
		sim.Net.Faults = housetest.Draw(rng)
		sim.Net.Faults.Resets, sim.Net.Faults.Descriptors = 0, 0
		var all [talkers]talker
		turn := func() {
			sim.Run(time.Duration(rng.IntN(1000)) * time.Microsecond)
			for i := range all {
				c := &all[i]
				if c.Peer == nil {
					break
				}
				c.out = c.out[c.Write([]byte(c.out)):]
				c.in += string(c.Read(rng.IntN(5000)))
			}
			require.Less(t, sim.Now, int64(time.Hour), "seed %d", seed)
		}
		members := map[string]int{}
		for i := range all { // one after the other, so that they hear the same
			c := &all[i]
			c.Peer, c.room = sim.Net.Dial(server.Addr()), fmt.Sprint(rng.IntN(2))
			c.out = "/join " + c.room + "\n"
			for !strings.Contains(c.in, "/join\n") {
				turn()
			}
			c.in = ""
			members[c.room]++
		}
		for i := range all {
			for all[i].said = range each {
				all[i].out += fmt.Sprintf("%d of %d\n", all[i].said, i)
			}
		}
		heard := map[string]string{}
		for i := range all {
			c := &all[i]
			said := func() (n int) { return strings.Count(c.in[:strings.LastIndex(c.in, "\n")+1], " of ") }
			for said() < each*members[c.room] {
				turn()
			}
			var lines strings.Builder // without those of who joined later
			last := map[string]int{}
			for line := range strings.Lines(c.in) {
				_, text, _ := strings.Cut(line, ": ")
				if text == "/join\n" {
					continue
				}
				n, who, is := strings.Cut(text, " of ")
				require.True(t, is, "seed %d: %q", seed, line)
				require.Equal(t, fmt.Sprint(last[who]), n, "seed %d: %q", seed, line)
				last[who]++
				lines.WriteString(line)
			}
			if heard[c.room] == "" {
				heard[c.room] = lines.String()
			}
			require.Equal(t, heard[c.room], lines.String(), "seed %d: talker %d", seed, i)
		}
		for i := range all {
			if all[i].End(); rng.IntN(2) == 0 {
				all[i].Close()
			}
		}
		sim.Run(time.Minute) // until empty rooms have gone
		for name := range members {
			_, err := core.Lookup[room](sim.System, "/user/room."+name)
			require.ErrorIs(t, err, core.ErrNotFound, "seed %d: room %s", seed, name)
		}
		require.NoError(t, sim.Shutdown(t.Context()))
	}
}
