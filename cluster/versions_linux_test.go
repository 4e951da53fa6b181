package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestG25PreviousVersion: a node of this version and one of the version before, in a process of its
// own, understand each other, whoever asks.
func TestG25PreviousVersion(t *testing.T) {
	switch {
	case os.Getenv("CLUSTER_ASKS") != "":
		askOtherVersion(t, os.Getenv("CLUSTER_ASKS"))
		return
	case isChild():
		serveAsChild(t, Config{Compress: true})
		return
	case housetest.Slow:
		t.Skip("it takes long to build all, with the race detector")
	}
	old := filepath.Join(t.TempDir(), "previous")
	out, err := exec.Command("go", "test", "-c", "-tags", "previous", "-o", old, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, c := range map[string]struct{ serves, asks string }{
		"old asks": {os.Args[0], old}, "old serves": {old, os.Args[0]}, "both old": {old, old},
	} {
		t.Run(name, func(t *testing.T) {
			asks := exec.Command(c.asks, "-test.run=^TestG25PreviousVersion$")
			asks.Env = append(os.Environ(), "CLUSTER_ASKS="+newChildOf(t, c.serves).address)
			out, err := asks.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}

// askOtherVersion asks and tells a ledger there, also by what only one of the two versions has.
func askOtherVersion(t *testing.T, address string) {
	here := newPlace(t, Config{Name: "here", Peers: map[string]string{"there": address}, Compress: true})
	far, err := here.node.Lookup(t.Context(), "there", "/user/ledger")
	require.NoError(t, err)
	const n = 20_000
	for i := range n {
		size := i % 5000 / 4999 * 100_000 // some are long
		for core.Notice(tells.At(far), padded(i, size)) == core.ErrMailboxFull {
			time.Sleep(time.Millisecond)
		}
	}
	require.Eventually(t, func() bool {
		rep, err := core.Ask(t.Context(), count.At(far), struct{}{})
		return err == nil && rep.Sum == n
	}, 20*time.Second, time.Millisecond, "all, in order")
	_, err = core.Ask(t.Context(), add.At(far), addReq{-1})
	require.EqualError(t, err, errNegative.Error())
	require.NotErrorIs(t, err, errNegative, "FAIL has the name")
	require.ErrorIs(t, err, core.ErrNotFound, "FAIL has the code, too")
	_, err = core.Ask(t.Context(), AtLeastOnce(here.node, add, Where{"there", "/user/ledger"}), addReq{1})
	require.NoError(t, err)
}
