package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestShares(t *testing.T) {
	o := small
	o.workers, o.length = 2, 400*time.Millisecond
	var out bytes.Buffer
	if err := shares(&out, o); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\nskewed "); n != 2*sharingRounds+1 { // the legend has one
		t.Errorf("%d rows of skewed in\n%s", n, out.String())
	}
	for _, want := range []string{"\neven ", "\nlight ", "times the messages of one worker"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// What is too much for one worker is shared by two, and what comes now and then isn't.
func TestCrowdMoves(t *testing.T) {
	for _, light := range []bool{false, true} {
		c, err := newCrowd(2, burnersMax, skewBurn, false)
		if err != nil {
			t.Fatal(err)
		}
		feed := c.feedAll
		if light {
			feed = func(int64) {}
		}
		r, err := c.run("", 400*time.Millisecond, feed)
		if err != nil {
			t.Fatal(err)
		}
		if (r.moved == 0) != light || (r.messages == 0) != light {
			t.Errorf("light %v: %d messages, shares %v, %d moved", light, r.messages, r.share, r.moved)
		}
	}
}
