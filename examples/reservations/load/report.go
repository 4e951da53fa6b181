package main

import (
	"fmt"
	"io"
	"time"
)

// report is what was measured.
type report struct {
	during          time.Duration
	changes, writes int64 // as the service counts them
	// attempts that the service asked to repeat, warming up included
	repeated int
	took     []time.Duration // sorted
}

// perWrite is how many requests shared a write; those that changed nothing don't count.
func (r *report) perWrite() float64 { return float64(r.changes) / float64(max(1, r.writes)) }

// at returns what so many of a thousand requests took at most.
func (r *report) at(thousandths int) time.Duration {
	if len(r.took) == 0 {
		return 0
	}
	return r.took[(len(r.took)-1)*thousandths/1000].Round(time.Microsecond)
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "requests per write  %.1f (%d changes in %d writes)\n", r.perWrite(), r.changes, r.writes)
	fmt.Fprintf(w, "requests a second   %.0f\n", float64(len(r.took))/r.during.Seconds())
	if r.repeated > 0 {
		fmt.Fprintf(w, "repeated            %d, as the service asked for it\n", r.repeated)
	}
	fmt.Fprintf(w, "p50                 %v\n", r.at(500))
	fmt.Fprintf(w, "p99                 %v\n", r.at(990))
	fmt.Fprintf(w, "p99.9               %v\n", r.at(999))
}
