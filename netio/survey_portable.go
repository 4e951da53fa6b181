//go:build !linux || portable

package netio

import (
	"sync"
	"time"
)

// surveyTime is how long a goroutine may take to look at what has arrived: it waits for
// that long if there is nothing.
const surveyTime = 10 * time.Millisecond

// survey finds out what had arrived at a socket, but was not taken in yet: the goroutine
// that reads or accepts is interrupted by a deadline in the past, tries again with
// one in the future, which takes what is there, and reports when that has passed. The socket's
// lock guards it.
type survey struct {
	asked []*sync.WaitGroup // each waits for the report
	again bool              // it is trying again
}

// ask interrupts the goroutine; its report ends done's wait.
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

// end reports. It is called, too, when the goroutine ends, because there is no room or
// no more to come.
func (v *survey) end() {
	for _, done := range v.asked {
		done.Done()
	}
	v.asked, v.again = nil, false
}
