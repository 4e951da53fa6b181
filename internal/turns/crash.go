package turns

import (
	"fmt"
	"runtime/debug"
)

// Crash ends the process, as a panic of the runtime on a worker's own goroutine does, with where
// and v in the message. On a goroutine of users, which runs a turn, user code might recover from a
// panic, and go on beside a broken worker.
func Crash(where string, v any) {
	text := fmt.Sprintf("%s: %v\n\n%s", where, v, debug.Stack())
	go panic(text)
	select {}
}
