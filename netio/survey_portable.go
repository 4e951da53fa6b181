//go:build !linux || portable

package netio

import (
	"sync"
	"time"
)

// surveyTime is how long a goroutine may take to look for bytes or connections that have arrived:
// it waits for so long if there are none.
const surveyTime = 10 * time.Millisecond

// survey finds out what had arrived at a socket, but was not taken in yet. The goroutine that reads
// or accepts is interrupted by a deadline in the past. It tries again with a deadline in the
// future, takes in what is there, and reports when that deadline has passed. The socket's lock
// guards it.
type survey struct {
	asked []*sync.WaitGroup // each waits for the report
	again bool              // the deadline in the future is set
}

// ask interrupts the goroutine, whose report ends the wait of done.
func (v *survey) ask(done *sync.WaitGroup, deadline func(time.Time) error) {
	done.Add(1)
	v.asked = append(v.asked, done)
	v.again = false
	deadline(time.Unix(1, 0))
}

// interrupted is called when a deadline has passed.
func (v *survey) interrupted(deadline func(time.Time) error) {
	if len(v.asked) > 0 && !v.again {
		v.again = true
		deadline(time.Now().Add(surveyTime))
		return
	}
	deadline(time.Time{})
	v.end()
}

// end reports. It is also called when the goroutine ends, because there is no room or nothing more
// comes.
func (v *survey) end() {
	for _, done := range v.asked {
		done.Done()
	}
	v.asked, v.again = nil, false
}
