package channel_test

import (
	"os"
	"testing"
	"time"
)

func long(t *testing.T) {
	t.Helper()
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1: this takes minutes")
	}
}

// TestLongNoReplyReachesAnotherConnection is a million connections that break.
func TestLongNoReplyReachesAnotherConnection(t *testing.T) {
	long(t)
	everywhere(t, func(t *testing.T, p place) {
		for range 25 { // ports that were closed in order need a minute
			nonces(t, p, 10_000)
		}
	})
}

// TestLongLifeCycles repeats, for five minutes, the tests in which the end of
// something meets work under way.
func TestLongLifeCycles(t *testing.T) {
	long(t)
	for began := time.Now(); time.Since(began) < 5*time.Minute && !t.Failed(); {
		t.Run("drain", TestDrain)
		t.Run("arrived", TestDrainAnswersWhatHadArrived)
		t.Run("load", TestDrainUnderLoad)
		t.Run("race", TestCloseWhileDraining)
		t.Run("shutdown", TestShutdownWithoutDrain)
		t.Run("stop", TestFrontStops)
		t.Run("gone", TestClientGoesMidPipeline)
		t.Run("never", TestG8ClientsThatNeverRead)
	}
}

// TestLongSimulations runs 100,000 seeds.
func TestLongSimulations(t *testing.T) {
	long(t)
	t.Run("servers", func(t *testing.T) { simulateServers(t, 100*seeds()) })
	t.Run("clients", func(t *testing.T) { simulateClients(t, 100*seeds()) })
}
