package stack

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// A watcher that has stopped isn't kept in memory by the long-lived actor that it watched.
func TestWatchersThatStoppedLeave(t *testing.T) {
	var w Engine
	target, lives, by := &House{}, &House{}, &Handler{}
	for range 10_000 {
		w.watch(target, watcher{to: lives, by: by})
		who := &House{}
		w.watch(target, watcher{to: who, by: by})
		who.flags.Set(flags.Stopped)
	}
	all := target.life().watchers
	if len(all) > 2 || cap(all) > 8 || all[0].to != lives {
		t.Errorf("%d watchers, room for %d", len(all), cap(all))
	}
}
