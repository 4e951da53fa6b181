package stack

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// Who watches a long life, and stops, isn't kept for it.
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
